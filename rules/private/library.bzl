"""`gpu_rust_library`: a Rust crate compiled once for the GPU, whatever the number of archs."""

load("//rules:compat.bzl", "label_string", "transition_allowlist")
load("//rules:providers.bzl", "GpuCrateInfo", "GpuSysrootInfo")
load(":crate.bzl", "CRATE_ATTRS", "begin_crate", "compile_for_gpu", "compile_for_host", "sysroot_of")
load(":steps.bzl", "TOOLCHAIN_TYPE")
load(":transition.bzl", "device_transition")

def library_providers(ctx, crate):
    """Declares the actions of a library and gathers what they make.

    Args:
      ctx: context of a rule with `LIBRARY_ATTRS`.
      crate: see `begin_crate`.

    Returns:
      A list of providers.
    """
    sysroot = sysroot_of(ctx)
    folder = ctx.label.name
    rlib = ctx.actions.declare_file("{}/lib{}.rlib".format(folder, crate.name))
    host_library = ctx.actions.declare_file("{}/host/lib{}.rlib".format(folder, crate.name))
    return [
        DefaultInfo(files = depset([rlib])),
        OutputGroupInfo(host = depset([host_library])),
        GpuCrateInfo(
            crate_name = crate.name,
            crates = depset(
                [struct(name = crate.name, rlib = rlib)],
                transitive = [dep[GpuCrateInfo].crates for dep in ctx.attr.deps],
                order = "postorder",
            ),
            extern_files = compile_for_gpu(ctx, crate, rlib, sysroot),
            host_extern_files = compile_for_host(ctx, crate, "host", host_library),
            host_library = host_library,
            is_proc_macro = False,
            panic = sysroot.panic,
            rlib = rlib,
            sysroot_crates = sysroot.crates,
        ),
    ]

def _host_only_providers(ctx, crate):
    """The same for a library that the GPU never sees."""
    library = ctx.actions.declare_file("{}/host/lib{}.rlib".format(ctx.label.name, crate.name))
    files = depset([library])
    return [
        DefaultInfo(files = files),
        OutputGroupInfo(host = files),
        GpuCrateInfo(
            crate_name = crate.name,
            crates = depset(order = "postorder"),
            extern_files = depset(order = "postorder"),
            host_extern_files = compile_for_host(ctx, crate, "host", library),
            host_library = library,
            is_proc_macro = False,
            panic = "",
            rlib = None,
            sysroot_crates = [],
        ),
    ]

def _gpu_rust_library_impl(ctx):
    crate = begin_crate(ctx, for_gpu = not ctx.attr.host_only)
    if ctx.attr.host_only:
        return _host_only_providers(ctx, crate)
    return library_providers(ctx, crate)

LIBRARY_ATTRS = dict(
    CRATE_ATTRS,
    debug = attr.string(
        doc = "rustc's `debuginfo`.",
        default = "0",
        values = ["0", "1", "2", "none", "line-directives-only", "line-tables-only", "limited", "full"],
    ),
    opt_level = attr.string(
        doc = "rustc's `opt-level`.",
        default = "3",
        values = ["0", "1", "2", "3", "s", "z"],
    ),
    _sysroot = attr.label(
        default = label_string("//rules:sysroot"),
        providers = [GpuSysrootInfo],
    ),
    **transition_allowlist()
)

gpu_rust_library = rule(
    implementation = _gpu_rust_library_impl,
    doc = """A Rust crate for the GPU.

Makes `NAME/libCRATE.rlib`: metadata and bitcode for all archs. A procedural macro may depend
on the same target; it is then compiled for this machine too.""",
    attrs = dict(LIBRARY_ATTRS, host_only = attr.bool(
        doc = "Compile the crate for this machine only, because it serves procedural macros and needs `std`.",
    )),
    cfg = device_transition,
    provides = [GpuCrateInfo],
    toolchains = [TOOLCHAIN_TYPE],
)

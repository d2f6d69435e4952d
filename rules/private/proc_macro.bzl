"""`gpu_rust_proc_macro`: a procedural macro that device crates use."""

load("//rules:compat.bzl", "transition_allowlist")
load("//rules:providers.bzl", "GpuCrateInfo")
load(":crate.bzl", "CRATE_ATTRS", "begin_crate", "compile_for_host")
load(":steps.bzl", "TOOLCHAIN_TYPE")
load(":transition.bzl", "device_transition")

def _gpu_rust_proc_macro_impl(ctx):
    crate = begin_crate(ctx, for_gpu = False)
    library = ctx.actions.declare_file("{}/lib{}.so".format(ctx.label.name, crate.name))
    compile_for_host(ctx, crate, "proc-macro", library)

    # What a macro is made of is linked into it.
    extern_files = depset([library])
    return [
        DefaultInfo(files = depset([library])),
        GpuCrateInfo(
            crate_name = crate.name,
            crates = depset(order = "postorder"),
            extern_files = extern_files,
            host_extern_files = extern_files,
            host_library = library,
            is_proc_macro = True,
            panic = "",
            rlib = None,
            sysroot_crates = [],
        ),
    ]

gpu_rust_proc_macro = rule(
    implementation = _gpu_rust_proc_macro_impl,
    doc = """A procedural macro for device crates, compiled for the machine that compiles them.

Makes `NAME/libCRATE.so`. Name it in `proc_macro_deps`; its own `deps` are libraries.""",
    attrs = dict(CRATE_ATTRS, **transition_allowlist()),
    cfg = device_transition,
    provides = [GpuCrateInfo],
    toolchains = [TOOLCHAIN_TYPE],
)

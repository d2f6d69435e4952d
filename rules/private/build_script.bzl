"""`gpu_rust_build_script`: the build script of a Cargo package, compiled and run."""

load("//rules:compat.bzl", "label_string", "transition_allowlist")
load("//rules:providers.bzl", "GpuBuildScriptInfo", "GpuSysrootInfo")
load(":crate.bzl", "CRATE_ATTRS", "compile_for_host", "crate_env", "package_folder", "sysroot_of")
load(":recipe.bzl", "build_script_argv")
load(":sources.bzl", "crate_sources")
load(":steps.bzl", "TOOLCHAIN_TYPE", "gpu_toolchain", "run_step")
load(":transition.bzl", "device_transition")

# What cargo calls the crate of a build script.
_CRATE = "build_script_build"

def _run(ctx, kind, program, files, sysroot):
    """Declares the run of the script for crates of one kind; returns the folder of its results."""
    toolchain = gpu_toolchain(ctx)
    device = kind == "device"
    output = ctx.actions.declare_directory("{}/{}".format(ctx.label.name, kind))
    linked = []
    for target in ctx.attr.link_deps:
        results = target[GpuBuildScriptInfo]
        linked.append((results.links, results.device if device else results.host))
    argv = build_script_argv(
        toolchain.tools,
        program.path,
        manifest_dir = package_folder(ctx),
        output = output.path,
        kind = kind,
        sysroot = sysroot.directory if device else "",
        env = crate_env(ctx, ctx.attr.crate_name),
        features = ctx.attr.crate_features,
        links = ctx.attr.links,
        deps = [(links, folder.path) for links, folder in linked],
        opt_level = ctx.attr.opt_level,
        debug = ctx.attr.debug,
    )
    inputs = [program] + files + [folder for _, folder in linked]
    run_step(
        ctx,
        step = "build-script",
        argv = argv,
        inputs = depset(inputs + ([file for _, file in sysroot.crates] if device else [])),
        outputs = [output],
        message = "Running the build script %s",
    )
    return output

def _gpu_rust_build_script_impl(ctx):
    sources = crate_sources(ctx, _CRATE)
    crate = struct(name = _CRATE, env_name = ctx.attr.crate_name, sources = sources)
    program = ctx.actions.declare_file("{}/program".format(ctx.label.name))
    compile_for_host(ctx, crate, "program", program)
    sysroot = sysroot_of(ctx)
    device = _run(ctx, "device", program, ctx.files.data, sysroot)
    host = _run(ctx, "host", program, ctx.files.data, sysroot)
    return [
        DefaultInfo(files = depset([device])),
        GpuBuildScriptInfo(device = device, host = host, links = ctx.attr.links),
    ]

gpu_rust_build_script = rule(
    implementation = _gpu_rust_build_script_impl,
    doc = """The build script (`build.rs`) of a Cargo package, for the `build_script` of its crate.

It runs on this machine with the environment that cargo documents. Native libraries are
refused.""",
    attrs = dict(
        {name: attribute for name, attribute in CRATE_ATTRS.items() if name != "build_script"},
        data = attr.label_list(
            doc = "The package's files, which the script may read.",
            allow_files = True,
        ),
        debug = attr.string(
            doc = "`debuginfo` of the crate, for DEBUG.",
            default = "0",
        ),
        link_deps = attr.label_list(
            doc = "Build scripts of dependencies that have `links`; the script sees their metadata.",
            providers = [GpuBuildScriptInfo],
        ),
        links = attr.string(
            doc = "The manifest's `links` key.",
        ),
        opt_level = attr.string(
            doc = "`opt-level` of the crate, for OPT_LEVEL.",
            default = "3",
        ),
        _sysroot = attr.label(
            default = label_string("//rules:sysroot"),
            providers = [GpuSysrootInfo],
        ),
        **transition_allowlist()
    ),
    cfg = device_transition,
    provides = [GpuBuildScriptInfo],
    toolchains = [TOOLCHAIN_TYPE],
)

"""`gpu_sysroot`: the standard library for the GPU, built once per panic strategy."""

load("//rules:compat.bzl", "transition_allowlist")
load("//rules:providers.bzl", "GpuSysrootInfo")
load("//rules:settings.bzl", "SettingInfo")
load(":recipe.bzl", "sysroot_argv", "sysroot_outputs")
load(":steps.bzl", "TOOLCHAIN_TYPE", "gpu_toolchain", "run_step")
load(":transition.bzl", "DEFAULT_PANIC", "device_transition")

_CRATES = ["core", "compiler_builtins", "alloc"]

def _built(ctx, toolchain, panic):
    """Declares the action; returns the folder and the crates."""
    root = ctx.bin_dir.path + "/" + _package_path(ctx)
    folder = ctx.label.name + "-" + panic
    paths = sysroot_outputs(root + folder)
    files = [ctx.actions.declare_file(path[len(root):]) for path in paths]
    run_step(
        ctx,
        step = "sysroot",
        argv = sysroot_argv(toolchain.sysroot_tools, root + folder, panic),
        inputs = depset(),
        outputs = files,
        message = "Compiling core and alloc for the GPU, panic=" + panic + " (%s)",
    )
    return root + folder, zip(_CRATES, files)

def _package_path(ctx):
    parts = [part for part in [ctx.label.workspace_root, ctx.label.package] if part]
    return "".join([part + "/" for part in parts])

def _gpu_sysroot_impl(ctx):
    toolchain = gpu_toolchain(ctx)

    # Older releases configure tools of genrules for the host, where no transition has effect.
    panic = ctx.attr.panic[SettingInfo].value or DEFAULT_PANIC
    if toolchain.prebuilt:
        if panic != DEFAULT_PANIC:
            fail("{}: panic={} needs the sources of the standard library; this toolchain has a prebuilt one".format(ctx.label, panic))
        directory, crates = "", toolchain.prebuilt
    else:
        directory, crates = _built(ctx, toolchain, panic)
    return [
        DefaultInfo(files = depset([file for _, file in crates])),
        GpuSysrootInfo(crates = crates, directory = directory, panic = panic),
    ]

gpu_sysroot = rule(
    implementation = _gpu_sysroot_impl,
    doc = "The crates core, compiler_builtins and alloc for the GPU.",
    attrs = dict(transition_allowlist(), panic = attr.label(
        doc = "Build setting that holds the panic strategy.",
        mandatory = True,
        providers = [SettingInfo],
    )),
    cfg = device_transition,
    toolchains = [TOOLCHAIN_TYPE],
)

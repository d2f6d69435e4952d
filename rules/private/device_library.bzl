"""`gpu_device_library`: the crate `gpu` that comes with fatcrate.

A `gpu_rust_library` whose symbols and source names do not depend on where fatcrate lies, so
that its bytes are the same in every workspace and with Ninja.
"""

load("//rules:providers.bzl", "GpuCrateInfo")
load(":crate.bzl", "check_deps")
load(":library.bzl", "LIBRARY_ATTRS", "library_providers")
load(":recipe.bzl", "device_crate")
load(":steps.bzl", "TOOLCHAIN_TYPE")
load(":transition.bzl", "device_transition")

def _gpu_device_library_impl(ctx):
    check_deps(ctx, for_gpu = True)
    package = ctx.file.crate_root.dirname.rpartition("/src")[0]
    crate = device_crate(package.rpartition("/")[0])
    if ctx.file.crate_root.path != crate.source or ctx.attr.edition != crate.edition:
        fail("{}: the recipe's device crate is {}, edition {}".format(ctx.label, crate.source, crate.edition))
    sources = struct(
        root = ctx.file.crate_root,
        files = ctx.files.srcs + ctx.files.compile_data,
        origin = crate.origin,
        remaps = crate.remaps,
    )
    return library_providers(ctx, struct(name = crate.name, sources = sources))

gpu_device_library = rule(
    implementation = _gpu_device_library_impl,
    doc = "fatcrate's own device library.",
    attrs = LIBRARY_ATTRS,
    cfg = device_transition,
    provides = [GpuCrateInfo],
    toolchains = [TOOLCHAIN_TYPE],
)

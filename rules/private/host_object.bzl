"""Host objects as C++ rules see them: `CcInfo` for the CPU that is built for."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

HOSTS = ["x86_64", "aarch64"]

HOST_OBJECT_ATTRS = {
    "_cc_toolchain": attr.label(default = "@rules_cc//cc:current_cc_toolchain"),
}

HOST_OBJECT_TOOLCHAINS = use_cc_toolchain()

_ARM_CPUS = ["aarch64", "arm64", "arm64-v8a", "armv8"]

def target_host(ctx):
    """The host whose objects the C++ toolchain of this configuration links.

    Args:
      ctx: context of a rule with `HOST_OBJECT_ATTRS` and `HOST_OBJECT_TOOLCHAINS`.

    Returns:
      A member of `HOSTS`.
    """
    toolchain = find_cc_toolchain(ctx)
    if toolchain.cpu in _ARM_CPUS or toolchain.target_gnu_system_name.startswith("aarch64"):
        return "aarch64"
    return "x86_64"

def cc_info(ctx, object, header):
    """Makes what a `cc_binary` or `cc_library` needs to have the target in its `deps`.

    Args:
      ctx: context of a rule with `HOST_OBJECT_ATTRS` and `HOST_OBJECT_TOOLCHAINS`.
      object: the ELF object, position independent.
      header: the header that declares its symbols.

    Returns:
      CcInfo. The object is linked even if nothing refers to it.
    """
    toolchain = find_cc_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    linking_context, _ = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name,
        feature_configuration = features,
        cc_toolchain = toolchain,
        compilation_outputs = cc_common.create_compilation_outputs(
            objects = depset([object]),
            pic_objects = depset([object]),
        ),
        alwayslink = True,
        disallow_dynamic_library = True,
    )
    root = header.path[:-len(header.short_path)].rstrip("/")
    return CcInfo(
        compilation_context = cc_common.create_compilation_context(
            headers = depset([header]),
            quote_includes = depset([root]),
        ),
        linking_context = linking_context,
    )

"""Differences between Bazel releases (4.2.3 to 9), told by features and not by versions."""

# Bazel 6.1 and newer.
_MODERN = hasattr(native, "package_relative_label")

def label_string(target):
    """The label as a string that means the same target wherever fatcrate is loaded from.

    Args:
      target: label of a target in fatcrate's own repository.

    Returns:
      A string. Old releases take no Label in `rule(toolchains = …)` and in transitions.
    """
    return str(Label(target))

def run_options(toolchain_type):
    """Keyword arguments of `actions.run` that older releases lack.

    Args:
      toolchain_type: label of the toolchain type whose execution platform the action uses.

    Returns:
      A dict.
    """
    return {"toolchain": toolchain_type} if _MODERN else {}

def platform_settings():
    """The options that name the target platform, with the options for the host to copy.

    Returns:
      A dict from option to option. Older releases choose a C++ toolchain by `--cpu`, newer
      ones have only platforms.
    """
    settings = {"//command_line_option:platforms": "//command_line_option:host_platform"}
    if not _MODERN:
        settings["//command_line_option:cpu"] = "//command_line_option:host_cpu"
    return settings

def transition_allowlist():
    """The attribute that a rule with a transition must have.

    Returns:
      A dict to be added to the rule's attributes.
    """
    return {"_allowlist_function_transition": attr.label(
        default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
    )}

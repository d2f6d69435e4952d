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

def device_options(platform):
    """The native options of the configuration of device crates, all with fixed values.

    Newer releases name an output folder after what differs from the command line's options.
    Older ones name it after every option that a transition changed; so the values here are
    such as a command line rarely has, and the folder is the same whatever that has. They also
    choose a C++ toolchain by `--cpu`, which no device crate needs.

    Args:
      platform: label of the platform of device crates.

    Returns:
      A dict from option to value.
    """
    options = {"//command_line_option:platforms": [label_string(platform)]}
    if _MODERN:
        options["//command_line_option:compilation_mode"] = "opt"
    else:
        options["//command_line_option:compilation_mode"] = "dbg"
        options["//command_line_option:cpu"] = "nvptx64"
    return options

def transition_allowlist():
    """The attribute that a rule with a transition must have.

    Returns:
      A dict to be added to the rule's attributes.
    """
    return {"_allowlist_function_transition": attr.label(
        default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
    )}

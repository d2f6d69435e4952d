"""The configuration of device crates: one, however the kernels that use them are configured.

A crate's bitcode depends on neither the host's platform nor the archs of the kernels, so it
must not be built once for each of them. All settings that do not concern crates take fixed
values here. These differ from the defaults, because Bazel 4 names an output folder after
every setting that was ever touched: a setting that is put back to its default would still
make a second folder, and a second build of `core`.
"""

load("//rules:compat.bzl", "label_string", "platform_settings")
load("//rules:settings.bzl", "UNUSED")

DEFAULT_PANIC = "immediate-abort"
PANIC_STRATEGIES = [DEFAULT_PANIC, "abort"]

_PANIC = label_string("//rules:panic")
_PLATFORM = platform_settings()
_UNUSED_SETTINGS = [label_string("//rules:archs"), label_string("//rules:compress")]

def _device_impl(settings, attr):
    _ignore = attr  # buildifier: disable=unused-variable
    result = {option: settings[source] for option, source in _PLATFORM.items()}

    # No platform stands for the host's where the option for it was left alone.
    platform = result["//command_line_option:platforms"]
    result["//command_line_option:platforms"] = [platform] if platform else []
    result["//command_line_option:compilation_mode"] = "opt"
    result[_PANIC] = settings[_PANIC] or DEFAULT_PANIC
    for setting in _UNUSED_SETTINGS:
        result[setting] = UNUSED
    return result

# On every rule that makes device code.
device_transition = transition(
    implementation = _device_impl,
    inputs = _PLATFORM.values() + [_PANIC],
    outputs = _PLATFORM.keys() + ["//command_line_option:compilation_mode", _PANIC] + _UNUSED_SETTINGS,
)

def _panic_impl(settings, attr):
    return {_PANIC: settings[_PANIC] or attr.panic}

# From kernels to their crates: the attribute `panic`, unless the command line says another.
panic_transition = transition(
    implementation = _panic_impl,
    inputs = [_PANIC],
    outputs = [_PANIC],
)

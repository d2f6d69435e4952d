"""The configuration of device crates: one, however the kernels that use them are configured.

A crate's bitcode depends on neither the host's platform nor the archs of the kernels, so it
must not be built once for each of them. All settings that do not concern crates take fixed
values here. These differ from the defaults, because older releases of Bazel name an output
folder after every setting that was ever touched: a setting that is put back to its default
would still make a second folder, and a second build of `core`.
"""

load("//rules:compat.bzl", "device_options", "label_string")
load("//rules:settings.bzl", "UNUSED")

DEFAULT_PANIC = "immediate-abort"
PANIC_STRATEGIES = [DEFAULT_PANIC, "abort"]

_PANIC = label_string("//rules:panic")

# Beside the settings that do not concern crates, the native options.
_FIXED = dict(device_options("//toolchain:gpu"), **{
    label_string("//rules:archs"): UNUSED,
    label_string("//rules:compress"): UNUSED,
})

def _device_impl(settings, attr):
    _ignore = attr  # buildifier: disable=unused-variable
    return dict(_FIXED, **{_PANIC: settings[_PANIC] or DEFAULT_PANIC})

# On every rule that makes device code.
device_transition = transition(
    implementation = _device_impl,
    inputs = [_PANIC],
    outputs = list(_FIXED) + [_PANIC],
)

def _panic_impl(settings, attr):
    return {_PANIC: settings[_PANIC] or attr.panic}

# From kernels to their crates: the attribute `panic`, unless the command line says another.
panic_transition = transition(
    implementation = _panic_impl,
    inputs = [_PANIC],
    outputs = [_PANIC],
)

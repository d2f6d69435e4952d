"""Module extension: the toolchain of this machine, for `MODULE.bazel` files."""

load("//toolchain:repository.bzl", "machine_repository", "tools_repository")

_machine = tag_class(
    doc = "Settings of the toolchain; only the root module's count.",
    attrs = {
        "python": attr.string(
            doc = "Path of the interpreter of the steps; FATCRATE_PYTHON outranks it.",
        ),
    },
)

def _fatcrate_impl(module_ctx):
    python = ""
    for module in module_ctx.modules:
        for tag in module.tags.machine:
            if module.is_root:
                python = tag.python
    machine_repository(name = "fatcrate_machine", python = python)
    tools_repository(name = "fatcrate_tools", machine = "@fatcrate_machine//:machine.json")

fatcrate = module_extension(
    implementation = _fatcrate_impl,
    doc = "Makes `@fatcrate_machine` and `@fatcrate_tools`.",
    tag_classes = {"machine": _machine},
)

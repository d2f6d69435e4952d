"""Set-up of a workspace (`WORKSPACE`) that uses fatcrate. For the module system see `extensions.bzl`."""

load("//toolchain:repository.bzl", "machine_repository", "stand_in_repository", "tools_repository")

_STAND_INS = ["remote_coverage_tools", "rules_cc", "rules_java"]

def fatcrate_repositories():
    """Declares what Bazel's own tools load, unless the workspace has declared it before.

    The repositories are stand-ins that need no network; declare the real ones first to use
    them instead.
    """
    for name in _STAND_INS:
        if not native.existing_rule(name):
            stand_in_repository(name = name, folder = name)

def fatcrate_toolchain_repositories(python = ""):
    """Declares `@fatcrate_machine` and `@fatcrate_tools`, the toolchain of this machine.

    Args:
      python: path of the interpreter of the steps; by default the first that has their
        packages: FATCRATE_PYTHON, `.venv` in fatcrate's own folder, `python3` on PATH.
    """
    machine_repository(name = "fatcrate_machine", python = python)
    tools_repository(name = "fatcrate_tools", machine = "@fatcrate_machine//:machine.json")

"""The root command: dispatches to a command's module, which is imported only when it runs.

This is the one place that names modules of every package; all of them lazily, so that a step
starts quickly and without libraries that it does not need.
"""

from __future__ import annotations

import gc
import sys

from fatcrate.toolchain.guard import EXIT_USAGE, guarded

TYPE_CHECKING = False  # the module `typing` takes longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable

    from fatcrate.toolchain.diagnostics import Kind


class Command:
    """``entry`` is ``module:function``; function(argv: list[str]) -> exit status."""

    def __init__(self, entry: str, summary: str) -> None:
        self.entry = entry
        self.summary = summary


#: Group heading -> command -> what runs it.
GROUPS: dict[str, dict[str, Command]] = {
    "projects": {
        "new": Command("fatcrate.rules.new:main", "start a project from a template"),
        "import": Command(
            "fatcrate.rules.cargo.importer:main", "make fatcrate.yaml from a Cargo project"
        ),
        "try-crate": Command(
            "fatcrate.rules.cargo.trial:main", "does a registry crate work in device code?"
        ),
        "build": Command(
            "fatcrate.rules.ninja.build:main", "build the targets of fatcrate.yaml with Ninja"
        ),
        "stages": Command(
            "fatcrate.rules.stages.command:main", "a kernel in source, MIR, LLVM IR, PTX, SASS"
        ),
        "check": Command(
            "fatcrate.rules.ninja.check:main", "rustc's errors and warnings, without a build"
        ),
        "clippy": Command("fatcrate.rules.ninja.lint:clippy", "lint the crates"),
        "fmt": Command("fatcrate.rules.ninja.lint:fmt", "format the crates' sources"),
        "clean": Command("fatcrate.rules.ninja.clean:main", "remove what builds made"),
        "rust-project": Command(
            "fatcrate.rules.ninja.rust_project:main", "rust-project.json for rust-analyzer"
        ),
        "run": Command("fatcrate.rules.cli:run_kernel", "build a kernel, run it on the CPU"),
    },
    "images and containers": {
        "inspect": Command(
            "fatcrate.fatbin.inspect:main", "list images, kernels and resources of any file"
        ),
        "extract": Command("fatcrate.fatbin.extract:main", "write the images of a container"),
        "strip": Command("fatcrate.fatbin.strip:main", "drop images from a container"),
        "recompress": Command("fatcrate.fatbin.recompress:main", "change the compression"),
        "select": Command(
            "fatcrate.fatbin.select_command:main", "tell which image a driver loads on a device"
        ),
    },
    "steps (run by Ninja and Bazel; each runs by hand too)": {
        "sysroot": Command("fatcrate.rules.sysroot:main", "core and alloc from source"),
        "compile": Command("fatcrate.rules.compile:main", "one crate with rustc"),
        "build-script": Command(
            "fatcrate.rules.build_script:main", "the build script of a Cargo package"
        ),
        "link": Command("fatcrate.lto.start:link", "crates to one module and its manifest"),
        "partition": Command("fatcrate.lto.plan:main", "kernels to modules, by size"),
        "merge-manifests": Command(
            "fatcrate.lto.partitions:main", "the manifests of a target's partitions to one"
        ),
        "codegen": Command("fatcrate.lto.start:codegen", "a linked module to PTX for one arch"),
        "assemble": Command("fatcrate.lto.assemble:main", "PTX to a cubin with ptxas"),
        "ir": Command("fatcrate.lto.listing:main", "LLVM IR of a module or kernel as text"),
        "disassemble": Command("fatcrate.rules.disassemble:main", "a cubin to SASS with nvdisasm"),
        "nvlink": Command(
            "fatcrate.lto.nvlink:main", "relocatable cubins of one architecture to one"
        ),
        "abi-check": Command("fatcrate.fatbin.abicheck:main", "images against the manifest"),
        "merge-reports": Command(
            "fatcrate.fatbin.reports:main", "the reports of a target's partitions to one"
        ),
        "pack": Command("fatcrate.fatbin.pack:main", "images to a fat binary"),
        "embed": Command(
            "fatcrate.fatbin.embed:main", "a fat binary to a host object, header, module"
        ),
    },
    "help": {
        "doctor": Command(
            "fatcrate.toolchain.doctor:main", "which tools are there and what is missing"
        ),
        "repro": Command(
            "fatcrate.lto.rerun:main", "run a step that crashed in LLVM or ptxas again"
        ),
        "explain": Command("fatcrate.rules.explain:main", "what an error code means"),
        "completion": Command("fatcrate.rules.completion:main", "completion for your shell"),
    },
}

COMMANDS: dict[str, Command] = {
    name: command for group in GROUPS.values() for name, command in group.items()
}

#: Modules that declare kinds of fault in ``ALL``.
ERROR_MODULES = (
    "fatcrate.rules.errors",
    "fatcrate.rules.cargo.errors",
    "fatcrate.toolchain.errors",
    "fatcrate.lto.errors",
    "fatcrate.fatbin.errors",
    "fatcrate.lto.cpu.errors",
)

_EXAMPLES = """\
examples:
  fatcrate build                       every target of fatcrate.yaml, into fatcrate-out/
  fatcrate build saxpy --archs sm_90,compute_90
  fatcrate inspect fatcrate-out/saxpy.fatbin
  fatcrate run saxpy saxpy --grid 4 --block 128 --arg 512 --arg 2.5 \\
      --arg in:x.npy --arg inout:y.npy
  fatcrate doctor
  fatcrate explain FC0301

`fatcrate COMMAND --help` describes a command.
exit status: 0 success, 1 a fault in the input, 2 wrong usage, 3 a fault of the environment
(missing tool, full disk), 130 interrupted
"""


def kinds() -> list[Kind]:
    """Every kind of fault of every package, by code."""
    import importlib

    found = [kind for name in ERROR_MODULES for kind in importlib.import_module(name).ALL]
    return sorted(found, key=lambda kind: kind.code)


def help_text() -> str:
    """The root help: each command with one line."""
    lines = [
        "usage: fatcrate COMMAND [ARGUMENT...]",
        "       fatcrate --help | --version",
        "",
        "Build, link and pack Rust GPU kernels for many architectures.",
    ]
    for heading, commands in GROUPS.items():
        lines += ["", f"{heading}:"]
        lines += [f"  {name:<12} {command.summary}" for name, command in commands.items()]
    return "\n".join([*lines, "", _EXAMPLES])


def _usage_error(message: str) -> int:
    print(f"fatcrate: {message}\nusage: fatcrate COMMAND [ARGUMENT...]", file=sys.stderr)
    print("`fatcrate --help` lists the commands", file=sys.stderr)
    return EXIT_USAGE


def _unknown(name: str) -> int:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    what = "an option" if name.startswith("-") else "a command"
    return _usage_error(f"'{name}' is not {what}{hint}")


def main(argv: list[str] | None = None, ready: Callable[[], None] | None = None) -> int:
    """Runs one command; returns its exit status. ``ready`` is called once Ctrl-C is minded."""
    # Commands are short and make many small objects and few cycles: at Python's own threshold of
    # 700 objects a tenth of their time goes into looking for garbage.
    gc.set_threshold(100_000, 20, 100)
    args = sys.argv[1:] if argv is None else argv
    if not args:
        return _usage_error("a command is needed")
    if args[0] in ("-h", "--help", "help"):
        return guarded(lambda: _help(args[1:]), program="fatcrate")
    if args[0] in ("-V", "--version"):
        return guarded(_version, program="fatcrate")
    command = COMMANDS.get(args[0])
    if command is None:
        return _unknown(args[0])

    def run() -> int:
        if ready is not None:
            ready()
        return _run(command, _expand(args[1:]))

    return guarded(run, program=f"fatcrate {args[0]}")


def _version() -> int:
    from fatcrate import __version__

    print(f"fatcrate {__version__}")
    return 0


def _expand(args: list[str]) -> list[str]:
    """``fatcrate COMMAND @FILE``: the arguments stand in a file, quoted as for a shell. Build
    systems write them so when there are too many for a command line."""
    if len(args) != 1 or not args[0].startswith("@"):
        return args
    import shlex

    with open(args[0][1:], encoding="utf-8") as stream:
        return shlex.split(stream.read())


def _help(names: list[str]) -> int:
    """``fatcrate help`` and ``fatcrate help COMMAND``."""
    if not names:
        print(help_text(), end="")
        return 0
    command = COMMANDS.get(names[0])
    return _unknown(names[0]) if command is None else _run(command, ["--help"])


def _run(command: Command, args: list[str]) -> int:
    name, function = command.entry.split(":")
    __import__(name)  # importlib would take time to import, too
    status: int = getattr(sys.modules[name], function)(args)
    return status


def run_kernel(argv: list[str]) -> int:
    """``fatcrate run``: the CPU runner, which builds with the Ninja front end first."""
    import importlib

    front = importlib.import_module("fatcrate.rules.ninja.run")
    status: int = importlib.import_module("fatcrate.lto.cpu.run").main(argv, front)
    return status


def entry() -> None:
    """Where installations of before start; now it is ``fatcrate.__main__``."""
    from fatcrate.__main__ import entry as run

    run()

"""The root command. Placeholder commands are added by the owners below."""

from __future__ import annotations

import importlib
import sys

from fatcrate.toolchain.diagnostics import EXIT_USAGE, guarded

# command -> "module:function"; function(argv: list[str]) -> int. Imported only when run.
COMMANDS: dict[str, str] = {
    "sysroot": "fatcrate.rules.sysroot:main",
    "compile": "fatcrate.rules.compile:main",
    "link": "fatcrate.lto.link:main",
    "codegen": "fatcrate.lto.codegen:main",
    "assemble": "fatcrate.lto.assemble:main",
    "abi-check": "fatcrate.fatbin.abicheck:main",
    "pack": "fatcrate.fatbin.pack:main",
    "embed": "fatcrate.fatbin.embed:main",
    "inspect": "fatcrate.fatbin.inspect:main",
    "extract": "fatcrate.fatbin.extract:main",
    "strip": "fatcrate.fatbin.strip:main",
    "recompress": "fatcrate.fatbin.recompress:main",
    "select": "fatcrate.fatbin.select:main",
    "build": "fatcrate.rules.ninja.build:main",
    "run": "fatcrate.lto.cpu.run:main",
    "doctor": "fatcrate.toolchain.doctor:main",
}


def main(argv: list[str] | None = None) -> int:
    """Runs one command; returns its exit code."""
    args = sys.argv[1:] if argv is None else argv
    if not args or args[0] not in COMMANDS:
        print(f"usage: fatcrate COMMAND …\ncommands: {', '.join(COMMANDS)}", file=sys.stderr)
        return EXIT_USAGE
    module, function = COMMANDS[args[0]].split(":")

    def run() -> int:
        code: int = getattr(importlib.import_module(module), function)(args[1:])
        return code

    return guarded(run, program=f"fatcrate {args[0]}")


def entry() -> None:
    """Console-script entry point."""
    raise SystemExit(main())

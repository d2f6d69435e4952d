"""``fatcrate repro``: runs the step of a reproducer again.

A front end: it looks for ptxas on this machine, for steps that ran one.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping

from fatcrate.lto.repro import PTXAS, Reproducer, load
from fatcrate.toolchain import atomic

_EPILOG = """\
examples:
  fatcrate repro out/demo/sm_80.ptx.repro
  fatcrate repro --keep repro-files out/demo/sm_80.ptx.repro
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate repro``."""
    p = argparse.ArgumentParser(
        prog="fatcrate repro",
        description="Runs the step of a reproducer again.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    p.add_argument("file", metavar="FILE", help="a file that ends in .repro")
    p.add_argument("--keep", metavar="DIR", help="unpack into this folder and leave it there")
    return p


def main(argv: list[str]) -> int:
    """Runs ``fatcrate repro``; its exit code is that of the step."""
    args = parser().parse_args(argv)
    made = load(args.file)
    print(f"fatcrate repro: {made.step} with {_versions(made.versions)}", file=sys.stderr)
    if args.keep:
        os.makedirs(args.keep, exist_ok=True)
        return run(made, args.keep)
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return run(made, folder)


def _versions(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{tool} {version}" for tool, version in sorted(versions.items()))


def run(made: Reproducer, folder: str) -> int:
    """Unpacks into ``folder`` and runs the step there. Raises what the step raises."""
    from fatcrate.lto import assemble, codegen, link

    for name, data in made.files.items():
        atomic.write_bytes(os.path.join(folder, name), data)
    step = {"link": link.main, "codegen": codegen.main, "assemble": assemble.main}[made.step]
    code = step([_place(word, folder) for word in made.argv])
    print("fatcrate repro: the step succeeded", file=sys.stderr)
    return code


def _place(word: str, folder: str) -> str:
    left, equals, right = word.partition("=")
    if word == PTXAS:
        from fatcrate.toolchain.discover import discover

        return discover().ptxas
    if word.startswith("@"):
        return os.path.join(folder, word[1:])
    return f"{left}={os.path.join(folder, right[1:])}" if equals and right[:1] == "@" else word

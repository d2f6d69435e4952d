"""``fatcrate inspect``: what device code a file holds."""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import sys

from fatcrate.fatbin import describe, errors, hostfile
from fatcrate.fatbin.source import open_source
from fatcrate.toolchain.diagnostics import FatcrateError, fail

_EPILOG = """\
examples:
  fatcrate inspect k.fatbin
  fatcrate inspect --kernels build/libkernels.so
  fatcrate inspect --json k.fatbin > k.json
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate inspect``."""
    made = argparse.ArgumentParser(
        prog="fatcrate inspect",
        description="List the GPU images in a file: fat binaries, cubins, PTX, HIP bundles,"
        " objects, archives, shared objects, executables, wheels.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("file", metavar="FILE")
    made.add_argument("--json", action="store_true", help="write JSON")
    made.add_argument(
        "--kernels", action="store_true", help="list kernels, their resources and parameters"
    )
    made.add_argument(
        "--resources", action="store_true", help="list the kernels of machine code, quickly"
    )
    return made


def main(argv: list[str]) -> int:
    """Runs ``fatcrate inspect``. Raises FatcrateError when the file or an image is damaged."""
    args = parser().parse_args(argv)
    detail: describe.Detail = "count"
    if args.json:
        detail = "data"
    elif args.kernels:
        detail = "table"
    elif args.resources:
        detail = "resources"
    gc.disable()  # a large library gives millions of small objects and no cycles
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(open_source(args.file))
        made = describe.describe(args.file, hostfile.modules(source, stack), detail)
    if not made.document["fatbins"] and not any(m["notes"] for m in made.document["modules"]):
        fail(
            errors.NOT_RECOGNISED,
            args.file,
            "holds no device code",
            remedy="check that the fat binary was linked into it",
        )
    if args.json:
        json.dump(made.document, sys.stdout, indent=2, sort_keys=True)
        print()
    else:
        print("\n".join(describe.text(made.document)))
    if made.faults:
        sys.stdout.flush()
        raise FatcrateError(*made.faults)
    return 0

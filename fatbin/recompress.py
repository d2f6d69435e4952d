"""``fatcrate recompress``: stores the images of a file with another compression."""

from __future__ import annotations

import argparse

from fatcrate.fatbin import compression, describe, edit, errors, strip
from fatcrate.toolchain.diagnostics import fail

_EPILOG = """\
An image is stored anew only where that makes it smaller (mode none: always). Inside of a
linked file or wheel the containers keep their addresses, so they may shrink but not grow.

examples:
  fatcrate recompress --mode size -o small/libcurand.so.10 libcurand.so.10
  fatcrate recompress --mode none -o plain.fatbin k.fatbin
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate recompress``."""
    made = argparse.ArgumentParser(
        prog="fatcrate recompress",
        description="Compress the GPU images of a file again.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("file", metavar="FILE")
    made.add_argument(
        "--mode",
        choices=compression.MODES,
        default="size",
        metavar="MODE",
        help="none, default, speed, size (the default) or balanced",
    )
    made.add_argument("--level", type=int, metavar="N", help="zstd level, 1 to 22")
    made.add_argument("-o", "--output", required=True, metavar="OUT", help="the file to write")
    return made


def main(argv: list[str]) -> int:
    """Runs ``fatcrate recompress``."""
    args = parser().parse_args(argv)
    if args.level is not None and not 1 <= args.level <= 22:
        fail(errors.USAGE, "--level", f"{args.level} is not a zstd level from 1 to 22")
    summary = strip.run(args.file, args.output, edit.recompressor(args.mode, args.level))
    print(
        f"{args.output}: {summary.kept} images,"
        f" {describe.size(summary.old_size)} -> {describe.size(summary.new_size)}"
    )
    return 0

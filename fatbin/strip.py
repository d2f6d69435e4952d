"""``fatcrate strip``: leaves out images that are not wanted."""

from __future__ import annotations

import argparse
import os

from fatcrate.fatbin import describe, edit, errors, rewrite, wanted
from fatcrate.fatbin.source import open_source
from fatcrate.toolchain.atomic import atomic_output
from fatcrate.toolchain.diagnostics import Diagnostic, fail, report

_EPILOG = """\
Works on fat binaries, objects, archives, shared objects, executables and wheels. In a linked
file nothing moves in memory: the bytes of removed images vanish from the file, and their
addresses are no longer mapped. Images that stay are not touched.

examples:
  fatcrate strip --keep sm_80,sm_90 -o small/libcurand.so.10 libcurand.so.10
  fatcrate strip --keep sm_90a,compute_90 --kernels 'gemm_*' -o small.whl big.whl
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate strip``."""
    made = argparse.ArgumentParser(
        prog="fatcrate strip",
        description="Remove GPU images from a file; what is left keeps its addresses.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("file", metavar="FILE")
    made.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="ARCHS",
        help="architectures to keep, such as sm_80,sm_90a,compute_90",
    )
    made.add_argument("--kernels", default="", metavar="GLOB", help="keep those with such a kernel")
    made.add_argument("-o", "--output", required=True, metavar="OUT", help="the file to write")
    return made


def main(argv: list[str]) -> int:
    """Runs ``fatcrate strip``. Raises FC0414 when no image would be left."""
    args = parser().parse_args(argv)
    archs = wanted.archs(args.keep)
    if not archs and not args.kernels:
        fail(errors.USAGE, "strip", "nothing to do: give --keep or --kernels")
    found: set[str] = set()
    summary = run(args.file, args.output, edit.keeper(archs, args.kernels, found))
    if absent := [arch for arch in archs if arch not in found]:
        message = f"has no image for {', '.join(absent)}"
        remedy = "see `fatcrate inspect` for the architectures that it has"
        report([Diagnostic(errors.NOT_THERE, args.file, message, remedy)])
    print(sentence(args.output, summary))
    return 0


def run(file: str, output: str, editor: edit.Editor) -> rewrite.Summary:
    """Rewrites ``file`` to ``output`` with ``editor``; permissions are kept."""
    summary = rewrite.Summary()
    with open_source(file) as source:
        with atomic_output(output) as stream:
            rewrite.rewrite(source, editor, stream, summary)
            if not summary.kept and not summary.removed:
                why = summary.notes or ["holds no device code"]
                fail(errors.NOT_RECOGNISED, file, "; ".join(why))
            if not summary.kept:
                fail(
                    errors.NOTHING_LEFT,
                    file,
                    "would lose all its images",
                    remedy="see `fatcrate inspect` for the architectures that it has",
                )
            os.fchmod(stream.fileno(), os.stat(file).st_mode & 0o777)
        summary.old_size = source.size
    summary.new_size = os.stat(output).st_size
    if summary.empty:
        notes = tuple(summary.empty[:8])
        report(
            [
                Diagnostic(
                    errors.EMPTY_CONTAINER,
                    output,
                    f"{len(summary.empty)} containers have no image left",
                    "keep an architecture that each container has, or PTX",
                    notes=notes,
                )
            ]
        )
    return summary


def sentence(output: str, summary: rewrite.Summary) -> str:
    """What was done, in one line."""
    images = "image" if summary.kept == 1 else "images"
    return (
        f"{output}: {summary.kept} {images} kept"
        f" ({describe.size(summary.kept_bytes)}), {summary.removed} removed"
        f" ({describe.size(summary.removed_bytes)}); {describe.size(summary.old_size)}"
        f" -> {describe.size(summary.new_size)}"
    )

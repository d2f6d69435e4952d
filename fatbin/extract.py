"""``fatcrate extract``: writes the images of a file to files of their own."""

from __future__ import annotations

import argparse
import contextlib
import os
from pathlib import Path
from typing import Final

from fatcrate.fatbin import errors, hostfile, kernels, wanted
from fatcrate.fatbin.model import Image
from fatcrate.fatbin.source import open_source
from fatcrate.toolchain.atomic import write_bytes
from fatcrate.toolchain.diagnostics import fail

SUFFIXES: Final = {"cubin": ".cubin", "ptx": ".ptx", "ltoir": ".ltoir", "hsaco": ".hsaco"}

_EPILOG = """\
Files are called STEM.NUMBER.ARCH.cubin (.ptx, .ltoir, .hsaco), numbered in file order.

examples:
  fatcrate extract -o images libcurand.so.10
  fatcrate extract --arch sm_90a --kind cubin -o images k.fatbin
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate extract``."""
    made = argparse.ArgumentParser(
        prog="fatcrate extract",
        description="Write the GPU images of a file to files of their own.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("file", metavar="FILE")
    made.add_argument(
        "-o", "--output", default=".", metavar="DIR", help="the folder to write to (made if new)"
    )
    made.add_argument("--arch", action="append", default=[], metavar="ARCHS", help="only these")
    made.add_argument("--kind", choices=sorted(SUFFIXES), help="only this kind")
    made.add_argument("--kernels", default="", metavar="GLOB", help="only with such a kernel")
    return made


def main(argv: list[str]) -> int:
    """Runs ``fatcrate extract``. Raises FC0414 when nothing matches."""
    args = parser().parse_args(argv)
    archs = wanted.archs(args.arch)
    folder = Path(args.output)
    stem = Path(args.file).name.split(".")[0] or "image"
    number = 0
    written: list[str] = []
    notes: list[str] = []
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(open_source(args.file))
        for module in hostfile.modules(source, stack):
            notes += module.notes
            for fatbin in module.fatbins:
                for image in fatbin.images:
                    number += 1
                    if not _wanted(image, archs, args.kind, args.kernels):
                        continue
                    os.makedirs(folder, exist_ok=True)
                    arch = str(image.arch) if image.arch else "any"
                    name = f"{stem}.{number}.{arch}{SUFFIXES[image.kind]}"
                    write_bytes(folder / name, contents(image))
                    image.release()
                    written.append(name)
    if not written:
        fail(
            errors.NOTHING_LEFT,
            args.file,
            "; ".join(["has no image that matches", *notes]),
            remedy="see `fatcrate inspect` for the images that it has",
        )
    print("\n".join(written))
    return 0


def contents(image: Image) -> bytes:
    """The image as the tool that made it wrote it: without padding, PTX without its NUL.

    Compressed LTO-IR is encoded in a way that only NVIDIA's tools read: FC0408.
    """
    if image.encoded:
        image.source.fault(
            errors.UNSUPPORTED,
            image.offset,
            "holds encoded LTO-IR, which only NVIDIA's tools decode",
            "extract it with cuobjdump",
        )
    payload = bytes(image.payload)
    if image.kind == "ptx":
        return payload.split(b"\0", 1)[0]
    if image.kind == "cubin":
        return payload[: kernels.extent(payload, image.source.name)]
    return payload


def _wanted(image: Image, archs: list[str], kind: str | None, pattern: str) -> bool:
    if image.kind not in SUFFIXES or (kind and image.kind != kind):
        return False
    if archs and not wanted.has_arch(image, archs):
        return False
    return not pattern or wanted.has_kernel(image, pattern)

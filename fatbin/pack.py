"""``fatcrate pack``: images to one fat binary."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Sequence

from fatcrate.fatbin import compression, errors, packer
from fatcrate.fatbin.policy import Policy
from fatcrate.fatbin.source import Source, open_source
from fatcrate.toolchain.arch import Arch, parse_one
from fatcrate.toolchain.atomic import atomic_output
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, FatcrateError, fail, report
from fatcrate.toolchain.usage import distinct, formatter

_EPILOG = """\
The kind of each image comes from the file. NVIDIA images (cubin, PTX, LTO-IR) make a CUDA fat
binary, AMD code objects (gfxNNN=FILE) a HIP offload bundle.

compression modes:
  none      store everything as it is
  default   what nvcc does: PTX with zstd level 5, cubins as they are
  speed     like default, with LZ4
  size      everything with zstd level 19
  balanced  everything with zstd level 9: near the size of `size` in a tenth of its time

examples:
  fatcrate pack -o k.fatbin sm_80=k80.cubin sm_90a=k90a.cubin compute_90=k.ptx
  fatcrate pack -o k.fatbin --compress size --allow uncovered-device sm_100f=k.cubin
  fatcrate pack -o k.hipfb gfx942=k942.hsaco gfx1100=k1100.hsaco
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate pack``."""
    made = argparse.ArgumentParser(
        prog="fatcrate pack",
        description="Pack GPU images into one fat binary.",
        epilog=_EPILOG,
        formatter_class=formatter,
    )
    made.add_argument("images", nargs="+", metavar="ARCH=FILE", help="an image and its arch")
    made.add_argument("-o", "--output", required=True, metavar="OUT", help="the file to write")
    made.add_argument(
        "--compress",
        choices=compression.MODES,
        default="balanced",
        metavar="MODE",
        help="none, default, speed, size or balanced (the default)",
    )
    made.add_argument("--level", type=int, metavar="N", help="zstd level, 1 to 22")
    made.add_argument(
        "--compress-all", action="store_true", help="compress cubins in every mode but none"
    )
    made.add_argument("--ident", default="", metavar="S", help="identifier stored with each image")
    made.add_argument("--options", default="", metavar="S", help="ptxas options stored with PTX")
    made.add_argument("-g", "--debug", action="store_true", help="mark the images as debug code")
    made.add_argument(
        "--allow", action="append", default=[], metavar="NAME", help="silence a check (or all)"
    )
    made.add_argument(
        "--deny", action="append", default=[], metavar="NAME", help="make a warning an error"
    )
    return made


def main(argv: list[str]) -> int:
    """Runs ``fatcrate pack``. Raises FatcrateError with all faults found."""
    args = parser().parse_args(argv)
    policy = Policy(args.allow, args.deny)
    if args.level is not None and not 1 <= args.level <= 22:
        fail(errors.USAGE, "--level", f"{args.level} is not a zstd level from 1 to 22")
    if args.level is not None and args.compress in ("none", "speed"):
        fail(errors.USAGE, "--level", f"has no meaning with --compress {args.compress}")
    if "\0" in args.ident or "\0" in args.options:
        fail(errors.USAGE, "--ident", "holds a NUL character")
    named = _arguments(args.images)
    distinct(errors.USAGE, [("--output", args.output)], [path for _, path in named])
    options = packer.Options(
        mode=args.compress,
        level=args.level,
        compress_all=args.compress_all,
        debug=args.debug,
    )
    with contextlib.ExitStack() as stack:
        sources = [(arch, stack.enter_context(open_source(path))) for arch, path in named]
        if any(arch.kind == "gfx" for arch, _ in sources):
            from fatcrate.fatbin import hip

            return hip.pack_files(sources, args.output, args.compress, args.level)
        faults = Collector()
        inputs = _inputs(sources, args.ident, args.options, faults)
        # Compression starts now, while the modules that check are being imported.
        entries = packer.Entries([] if faults.errors else inputs, options)
        _check(inputs, policy, args.output, faults)
        with atomic_output(args.output) as stream:
            packer.write_entries(entries, stream)
    return 0


def _inputs(
    sources: Sequence[tuple[Arch, Source]], ident: str, options: str, faults: Collector
) -> list[packer.Input]:
    """The images with their kinds; adds FC0400 for each file that is none."""
    inputs: list[packer.Input] = []
    for arch, source in sources:
        kind = packer.sniff(source)
        if kind:
            inputs.append(packer.Input(kind, arch, source, ident, options))
            continue
        faults.add(
            Diagnostic(
                errors.NOT_RECOGNISED,
                source.name,
                "is neither a cubin, PTX text nor LTO-IR",
                "pass the file that ptxas or the code generator wrote",
            )
        )
    return inputs


def _check(inputs: Sequence[packer.Input], policy: Policy, output: str, faults: Collector) -> None:
    """Checks images for packing; prints warnings. Raises FatcrateError with all errors."""
    from fatcrate.fatbin import verify
    from fatcrate.fatbin.select import Candidate

    for item in inputs:
        verify.check_image(item.kind, item.arch, item.source, policy, faults)
    candidates = [Candidate(item.kind, item.arch) for item in inputs]
    names = [item.source.name for item in inputs]
    verify.check_set(candidates, names, policy, faults, output)
    report(faults.warnings)
    faults.check()


def _arguments(items: Sequence[str]) -> list[tuple[Arch, str]]:
    """``ARCH=FILE`` each; all faulty ones are reported together."""
    faults: list[Diagnostic] = []
    made: list[tuple[Arch, str]] = []
    for item in items:
        text, equals, path = item.partition("=")
        if not equals or not path or not text:
            faults.append(
                Diagnostic(
                    errors.USAGE,
                    item,
                    "is not of the form ARCH=FILE",
                    "write for example sm_90=kernels.cubin",
                )
            )
            continue
        try:
            made.append((parse_one(text), path))
        except FatcrateError as error:
            faults.extend(error.diagnostics)
    if faults:
        raise FatcrateError(*faults)
    return made

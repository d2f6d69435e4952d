"""``fatcrate inspect``: what device code a file holds."""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import re
import sys
from collections.abc import Iterable
from typing import Any

from fatcrate.fatbin import describe, errors, hostfile, wanted
from fatcrate.fatbin.source import open_source
from fatcrate.toolchain.diagnostics import Diagnostic, FatcrateError, fail
from fatcrate.toolchain.usage import formatter

_EPILOG = """\
examples:
  fatcrate inspect k.fatbin
  fatcrate inspect --kernels build/libkernels.so
  fatcrate inspect --require sm_80,sm_90,compute_90 libkernels.so
  fatcrate inspect old/libkernels.so --diff new/libkernels.so
  fatcrate inspect --json k.fatbin > k.json
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate inspect``."""
    made = argparse.ArgumentParser(
        prog="fatcrate inspect",
        description="List the GPU images in a file: fat binaries, cubins, PTX, HIP bundles,"
        " objects, archives, shared objects, executables, wheels.",
        epilog=_EPILOG,
        formatter_class=formatter,
    )
    made.add_argument("file", metavar="FILE")
    form = made.add_mutually_exclusive_group()
    form.add_argument(
        "--kernels", action="store_true", help="list kernels, their resources and parameters"
    )
    form.add_argument(
        "--resources", action="store_true", help="list the kernels of machine code, quickly"
    )
    form.add_argument("--tree", action="store_true", help="containers, images, kernels as a tree")
    form.add_argument("--sass", action="store_true", help="disassemble the cubins with nvdisasm")
    form.add_argument(
        "--diff", metavar="OTHER", help="what OTHER has more, less or otherwise than FILE"
    )
    made.add_argument("--json", action="store_true", help="write JSON")
    made.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="ARCHS",
        help="fail unless there is an image for each of these",
    )
    made.add_argument("--nvdisasm", default="", metavar="PATH", help="the nvdisasm to use")
    return made


def main(argv: list[str]) -> int:
    """Runs ``fatcrate inspect``.

    Raises FC0418 when an image is damaged (after the listing), FC0411 for a missing arch.
    """
    args = parser().parse_args(argv)
    if args.sass and args.json:
        fail(errors.USAGE, "--sass", "has no JSON form")
    required = wanted.archs(args.require)
    gc.disable()  # a large library gives millions of small objects and no cycles
    if args.sass:
        return _sass(args)
    made = _describe(args.file, _detail(args))
    if args.diff:
        return _diff(args, made)
    if args.json:
        _print_json(made.document)
    elif args.tree:
        from fatcrate.fatbin import tree

        _print_lines(tree.lines(made.document))
    else:
        _print_lines(describe.text(made.document))
    faults = [*made.faults, *_missing(made.document, required)]
    if faults:
        sys.stdout.flush()
        raise FatcrateError(*faults)
    return 0


def _detail(args: argparse.Namespace) -> describe.Detail:
    if args.json or args.tree or args.diff:
        return "data"
    if args.kernels:
        return "table"
    return "resources" if args.resources else "count"


def _describe(file: str, detail: describe.Detail) -> describe.Description:
    """Describes a file. Raises FC0400 when it holds no device code, FC0408 when what it holds
    is for other platforms."""
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(open_source(file))
        found = list(hostfile.modules(source, stack))
        made = describe.describe(file, found, detail)
    if made.document["fatbins"] or any(m.notes for m in found if not m.unread):
        return made
    if notes := [note for m in found for note in m.notes]:
        fail(errors.UNSUPPORTED, file, "holds no ELF file with device code", notes=tuple(notes))
    fail(
        errors.NOT_RECOGNISED,
        file,
        "holds no device code",
        remedy="check that the fat binary was linked into it",
    )


def _print_json(document: dict[str, Any]) -> None:
    json.dump(document, sys.stdout, indent=2, sort_keys=True)
    print()


def _print_lines(lines: Iterable[str]) -> None:
    """Names may hold bytes that are no UTF-8, and the terminal may know less than that."""
    text = "\n".join(lines) + "\n"
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _missing(document: dict[str, Any], required: list[str]) -> list[Diagnostic]:
    present = {
        image[key]
        for fatbin in document["fatbins"]
        for image in fatbin["images"]
        for key in ("arch", "target")
        if image.get(key)
    }
    missing = [arch for arch in required if arch not in present]
    if not missing:
        return []
    message = f"has no image for {', '.join(missing)}"
    held = ", ".join(sorted(present, key=_by_number)) or "none"
    return [Diagnostic(errors.MISSING_ARCH, document["file"], message, f"it has: {held}")]


def _by_number(arch: str) -> list[tuple[int, str]]:
    """Sorts sm_80 before sm_100."""
    return [(int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", arch)]


def _diff(args: argparse.Namespace, old: describe.Description) -> int:
    from fatcrate.fatbin import diff

    new = _describe(args.diff, "data")
    made = diff.compare(old.document, new.document)
    if args.json:
        _print_json(made)
    else:
        _print_lines(diff.text(made))
    faults = [*old.faults, *new.faults]
    if faults:
        sys.stdout.flush()
        raise FatcrateError(*faults)
    return 0


def _sass(args: argparse.Namespace) -> int:
    from fatcrate.fatbin import tree

    nvdisasm = args.nvdisasm or tree.find_nvdisasm(os.environ)
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(open_source(args.file))
        modules = list(hostfile.modules(source, stack))
        if not any(i.kind == "cubin" for m in modules for f in m.fatbins for i in f.images):
            fail(errors.NOT_RECOGNISED, args.file, "holds no cubin to disassemble")
        for text in tree.disassembly(modules, nvdisasm):
            _print_lines([text])
    return 0

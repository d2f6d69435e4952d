"""``fatcrate embed --part``: the fat binaries of a partitioned target in one host object.

Each module lies in a section of its own between ``SYMBOL_PART_start`` and ``SYMBOL_PART_end``;
the linker joins the sections. A partition that the manifest says nothing is in is left out.
"""

from __future__ import annotations

import argparse
import re
from contextlib import ExitStack

from fatcrate.fatbin import bindings, embed, errors
from fatcrate.fatbin.elf_object import MACHINES, ObjectFile
from fatcrate.fatbin.source import Source, open_source
from fatcrate.toolchain.atomic import atomic_output, write_text
from fatcrate.toolchain.diagnostics import fail
from fatcrate.toolchain.manifest import Manifest


def run(args: argparse.Namespace, manifest: Manifest | None) -> int:
    """Runs ``fatcrate embed`` with ``--part``."""
    if manifest is None:
        fail(errors.USAGE, "--part", "needs --manifest, the combined one of the target")
    for option in ("register", "rust", "python"):
        if getattr(args, option):
            fail(
                errors.UNSUPPORTED,
                f"--{option}",
                "takes one fat binary, not partitions",
                remedy=f"embed each by itself, with --symbol {args.symbol}_PART",
            )
    parts = _parts(args.part, args.symbol, manifest)
    if args.output:
        with ExitStack() as stack:
            sources = {
                symbol: stack.enter_context(open_source(path)) for symbol, path in parts.values()
            }
            made = build_object(sources, args.host)
            with atomic_output(args.output) as stream:
                made.write(stream)
    if args.header:
        symbols = {part: symbol for part, (symbol, _) in parts.items()}
        write_text(args.header, bindings.parts_header(args.symbol, symbols, manifest))
    return 0


def symbol_of(symbol: str, part: str) -> str:
    """The prefix of a module's symbols."""
    return f"{symbol}_{re.sub('[^A-Za-z0-9_]', '_', part)}"


def _parts(texts: list[str], symbol: str, manifest: Manifest) -> dict[str, tuple[str, str]]:
    """Partition -> (symbol, path) of those that hold anything."""
    given: dict[str, tuple[str, str]] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not name or not equals or not path:
            fail(errors.USAGE, "--part", f"{text!r} is not NAME=FATBIN")
        given[name] = (symbol_of(symbol, name), path)
    used = {k.module for k in manifest.kernels} | {s.module for s in manifest.statics}
    for name in sorted(used - given.keys()):
        fail(errors.USAGE, "--part", f"the manifest names the module {name!r}, which is not given")
    return {name: part for name, part in given.items() if name in used}


def build_object(sources: dict[str, Source], host: str) -> ObjectFile:
    """An object with every container under its symbol. Raises FC0415 when they are too large."""
    total = sum(source.size for source in sources.values())
    if total > embed.SMALL_MODEL_LIMIT:
        fail(
            errors.OBJECT_TOO_LARGE,
            next(iter(sources.values())).name,
            f"and the other partitions have {total} bytes; a host object takes at most"
            f" {embed.SMALL_MODEL_LIMIT}",
            remedy="pack fewer architectures or compress more, or load the files at run time",
        )
    made = ObjectFile(MACHINES[host])
    for symbol, source in sources.items():
        embed.add_container(made, source, symbol, embed.check_container(source))
    made.mark_harmless()
    return made

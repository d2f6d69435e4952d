"""``fatcrate embed``: a fat binary as a host object, and the sources that go with it."""

from __future__ import annotations

import argparse
from typing import Final

from fatcrate.fatbin import bindings, errors, hip, reader
from fatcrate.fatbin import constants as c
from fatcrate.fatbin.elf_object import MACHINES, ObjectFile
from fatcrate.fatbin.source import Source, open_source
from fatcrate.toolchain import manifest as manifests
from fatcrate.toolchain import names
from fatcrate.toolchain.atomic import atomic_output, write_text
from fatcrate.toolchain.diagnostics import fail
from fatcrate.toolchain.usage import distinct, formatter

#: Code and data of the small memory model reach 2 GiB; some is left for the program itself.
SMALL_MODEL_LIMIT: Final = (2 << 30) - (64 << 20)

_EPILOG = """\
The object holds the fat binary in section .nv_fatbin (AMD: .hip_fatbin) between the symbols
NAME_start and NAME_end. It runs no code at start-up: pass NAME_start to cuModuleLoadData,
cuLibraryLoadData or hipModuleLoadData. With --register it registers its kernels with the CUDA
runtime before main(), as objects made by nvcc do.

examples:
  fatcrate embed k.fatbin -o k.o --host x86_64 --symbol k --header k.h
  fatcrate embed k.fatbin --manifest k.manifest.json --symbol k --header k.h --rust k.rs
  fatcrate embed --part image=k.image.fatbin --part audio=k.audio.fatbin --symbol k \
      --manifest k.manifest.json -o k.o --host x86_64 --header k.h
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate embed``."""
    made = argparse.ArgumentParser(
        prog="fatcrate embed",
        description="Turn a fat binary into a host ELF object, and write bindings for it.",
        epilog=_EPILOG,
        formatter_class=formatter,
    )
    made.add_argument(
        "fatbin", nargs="?", metavar="FATBIN", help="a CUDA fat binary or a HIP bundle"
    )
    made.add_argument(
        "--part",
        action="append",
        default=[],
        metavar="NAME=FATBIN",
        help="instead of FATBIN: a module of a partitioned target, as its --manifest names it;"
        " the bytes lie between SYMBOL_NAME_start and SYMBOL_NAME_end",
    )
    made.add_argument("-o", "--output", metavar="OBJ", help="the object to write")
    made.add_argument("--host", choices=names.HOSTS, help="the machine of the object")
    made.add_argument("--symbol", required=True, metavar="NAME", help="prefix of all symbols")
    made.add_argument(
        "--register", action="store_true", help="register with the CUDA runtime at start-up"
    )
    made.add_argument(
        "--manifest", metavar="M", help="take kernels and parameter types from this ABI manifest"
    )
    made.add_argument("--header", metavar="H", help="write a header for C and C++")
    made.add_argument("--rust", metavar="RS", help="write a Rust module")
    made.add_argument("--python", metavar="PY", help="write a Python module")
    return made


def main(argv: list[str]) -> int:
    """Runs ``fatcrate embed``."""
    args = parser().parse_args(argv)
    bindings.check_symbol(args.symbol)
    if args.output and not args.host:
        fail(errors.USAGE, "--host", f"is needed for an object: {' or '.join(names.HOSTS)}")
    if not (args.output or args.header or args.rust or args.python):
        fail(errors.USAGE, "embed", "nothing to write: give -o, --header, --rust or --python")
    if bool(args.fatbin) == bool(args.part):
        fail(errors.USAGE, "embed", "takes either FATBIN or --part, and one of them")
    given = ("--output", "--header", "--rust", "--python")
    named = zip(given, (args.output, args.header, args.rust, args.python), strict=True)
    distinct(errors.USAGE, named, filter(None, [args.fatbin, args.manifest]))
    manifest = manifests.load(args.manifest) if args.manifest else None
    if args.part:
        from fatcrate.fatbin import embed_parts

        return embed_parts.run(args, manifest)
    with open_source(args.fatbin) as source:
        is_hip = check_container(source)
        if is_hip and args.register:
            fail(
                errors.UNSUPPORTED,
                args.fatbin,
                "is a HIP bundle; --register knows the CUDA runtime only",
                remedy="load it with hipModuleLoadData",
            )
        wants_kernels = args.register or args.header or args.rust or args.python
        kernels = bindings.kernels_of(source, manifest) if wants_kernels else []
        if args.output:
            made, start = build_object(source, args.host, args.symbol, is_hip)
            if args.register:
                from fatcrate.fatbin import register

                register.add(made, args.symbol, [k.name for k in kernels], start)
            made.mark_harmless()
            with atomic_output(args.output) as stream:
                made.write(stream)
        if args.header:
            write_text(args.header, bindings.header(args.symbol, kernels, args.register))
        if args.rust:
            write_text(args.rust, bindings.rust(args.symbol, kernels))
        if args.python:
            write_text(args.python, bindings.python(args.symbol, kernels, source))
    return 0


def check_container(source: Source) -> bool:
    """Makes sure that the file is one sound container; whether it is a HIP bundle.

    Raises FC0400 for another file and the reader's kinds for a damaged one.
    """
    if hip.is_bundle(source):
        hip.read(source)
        return True
    if not reader.is_fatbin(source):
        fail(
            errors.NOT_RECOGNISED,
            source.name,
            "is neither a CUDA fat binary nor a HIP bundle",
            remedy="make one with `fatcrate pack`",
        )
    reader.read_all(source)
    return False


def build_object(source: Source, host: str, symbol: str, is_hip: bool) -> tuple[ObjectFile, int]:
    """The object with the container between ``<symbol>_start`` and ``<symbol>_end``.

    Returns the handle of the start symbol too.

    The symbols are protected: a program or shared object that has a copy uses its own, and
    shared objects without one (those that Bazel makes of libraries for dynamic linking) may
    use the program's. Raises FC0415 when the small memory model cannot reach the end.
    """
    if source.size > SMALL_MODEL_LIMIT:
        fail(
            errors.OBJECT_TOO_LARGE,
            source.name,
            f"has {source.size} bytes; a host object takes at most {SMALL_MODEL_LIMIT}",
            remedy="pack fewer architectures or compress more, or load the file at run time",
        )
    made = ObjectFile(MACHINES[host])
    return made, add_container(made, source, symbol, is_hip)


def add_container(made: ObjectFile, source: Source, symbol: str, is_hip: bool) -> int:
    """A section with the container; returns the handle of ``<symbol>_start``."""
    name = names.HIP_FATBIN_SECTION if is_hip else names.NV_FATBIN_SECTION
    align = hip.ENTRY_ALIGN if is_hip else c.ENTRY_ALIGN
    section = made.section(name, source, flags=c.SHF_ALLOC, align=align)
    start = made.symbol(f"{symbol}_start", section, 0, source.size, visibility=c.STV_PROTECTED)
    made.symbol(f"{symbol}_end", section, source.size, visibility=c.STV_PROTECTED, kind=0)
    return start

"""Registration with the CUDA runtime at start-up, as objects made by nvcc do it.

nvcc's objects hold a wrapper record and a constructor that calls ``__cudaRegisterFatBinary``,
``__cudaRegisterFunction`` for each kernel and ``__cudaRegisterFatBinaryEnd``, and hands
``__cudaUnregisterFatBinary`` to ``atexit``. The machine code below does the same in a loop
over a table of {host handle, kernel name}. Its source is ``tests/corpus/register/*.s``; a
test assembles that and compares bytes and relocations.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fatcrate.fatbin import constants as c
from fatcrate.fatbin.elf_object import ObjectFile
from fatcrate.fatbin.structs import WRAPPER, Wrapper
from fatcrate.toolchain import names

_FUNCTIONS = {
    "begin": "__cudaRegisterFatBinary",
    "function": "__cudaRegisterFunction",
    "end": "__cudaRegisterFatBinaryEnd",
    "undo": "__cudaUnregisterFatBinary",
    "atexit": "atexit",
}


@dataclass(frozen=True)
class Code:
    """Machine code of ``register`` at 0 and ``unregister``; relocations as (offset, type,
    symbol, addend), where the symbol is a data label or a key of ``_FUNCTIONS``."""

    text: bytes
    unregister: int
    relocations: tuple[tuple[int, int, str, int], ...]
    align: int


CODE: Final = {
    "x86_64": Code(
        bytes.fromhex(
            "f30f1efa5341544883ec08488d3d00000000e8000000004889c3488905000000"
            "004c8d2500000000498b34244885f6742b498b5424084889d14889df41b8ffff"
            "ffff4531c96a006a006a006a00e8000000004883c4204983c410ebcc4889dfe8"
            "00000000488d3d0d000000e8000000004883c408415c5bc3f30f1efa488b3d00"
            "000000e900000000"
        ),
        0x78,
        (
            (0x0E, 2, "wrapper", -4),
            (0x13, 4, "begin", -4),
            (0x1D, 2, "handle", -4),
            (0x24, 2, "table", -4),
            (0x4E, 4, "function", -4),
            (0x60, 4, "end", -4),
            (0x6C, 4, "atexit", -4),
            (0x7F, 2, "handle", -4),
            (0x84, 4, "undo", -4),
        ),
        16,
    ),
    "aarch64": Code(
        bytes.fromhex(
            "5f2403d5fd7bbea9fd030091f35301a9000000900000009100000094f30300aa"
            "01000090200000f91400009094020091810240f9a10100b4820640f9e30302aa"
            "e00313aa04008012e5031faae6031faae7031faaff7fbfa900000094ff430091"
            "94420091f3ffff17e00313aa00000094000000900000009100000094f35341a9"
            "fd7bc2a8c0035fd65f2403d500000090000040f900000014"
        ),
        0x88,
        (
            (0x10, 275, "wrapper", 0),
            (0x14, 277, "wrapper", 0),
            (0x18, 283, "begin", 0),
            (0x20, 275, "handle", 0),
            (0x24, 286, "handle", 0),
            (0x28, 275, "table", 0),
            (0x2C, 277, "table", 0),
            (0x58, 283, "function", 0),
            (0x6C, 283, "end", 0),
            (0x70, 275, "register", 0x88),
            (0x74, 277, "register", 0x88),
            (0x78, 283, "atexit", 0),
            (0x8C, 275, "handle", 0),
            (0x90, 286, "handle", 0),
            (0x94, 282, "undo", 0),
        ),
        4,
    ),
}


def handle(symbol: str, kernel: str, index: int) -> str:
    """The host symbol whose address stands for a kernel in ``cudaLaunchKernel``.

    ``demo_kernel_saxpy``; a kernel whose name is no C identifier is numbered instead.
    """
    plain = re.fullmatch(r"\w+", kernel, re.ASCII) is not None and not kernel.isdigit()
    return f"{symbol}_kernel_{kernel if plain else index}"


def add(made: ObjectFile, symbol: str, kernels: Sequence[str], start: int) -> None:
    """Adds wrapper, handles, table and constructor; ``start`` is the container's symbol."""
    alloc, write = c.SHF_ALLOC, c.SHF_ALLOC | c.SHF_WRITE
    abs64 = made.machine.abs64
    wrapper_bytes = WRAPPER.write(Wrapper(c.WRAPPER_MAGIC, c.WRAPPER_VERSION, 0, 0))
    wrapper = made.section(names.NV_FATBIN_WRAPPER_SECTION, wrapper_bytes, flags=write, align=8)
    made.relocate(wrapper, WRAPPER.offset("data"), abs64, start)
    labels = {
        "wrapper": _local(made, f"{symbol}_wrapper", wrapper, 0, WRAPPER.size),
        "handle": _local(
            made, f"{symbol}_handle", made.section(".data", bytes(8), flags=write, align=8), 0, 8
        ),
        "table": _table(made, symbol, kernels),
    }
    for label, name in _FUNCTIONS.items():
        labels[label] = made.symbol(name, kind=0)
    code = CODE[made.machine.name]
    text = made.section(".text", code.text, flags=alloc | c.SHF_EXECINSTR, align=code.align)
    if made.machine.name == "aarch64":
        _local(made, "$x", text, 0, 0, kind=0)  # a mapping symbol: code follows
    labels["register"] = _local(
        made, f"{symbol}_register", text, 0, code.unregister, kind=c.STT_FUNC
    )
    _local(
        made,
        f"{symbol}_unregister",
        text,
        code.unregister,
        len(code.text) - code.unregister,
        kind=c.STT_FUNC,
    )
    for offset, kind, label, addend in code.relocations:
        made.relocate(text, offset, kind, labels[label], addend)
    array = made.section(".init_array", bytes(8), flags=write, align=8, kind=c.SHT_INIT_ARRAY)
    made.relocate(array, 0, abs64, labels["register"])


def _local(
    made: ObjectFile, name: str, section: int, value: int, size: int, kind: int = c.STT_OBJECT
) -> int:
    return made.symbol(name, section, value, size, binding=c.STB_LOCAL, kind=kind)


def _table(made: ObjectFile, symbol: str, kernels: Sequence[str]) -> int:
    """The table {handle, name} per kernel, closed by zeros; one byte of data per handle."""
    texts = b"".join(_encoded(name) for name in kernels)
    strings = made.section(".rodata", bytes(len(kernels)) + texts, flags=c.SHF_ALLOC, align=1)
    table = made.section(
        ".data.rel.ro",
        struct.pack("<QQ", 0, 0) * (len(kernels) + 1),
        flags=c.SHF_ALLOC | c.SHF_WRITE,
        align=8,
    )
    base = _local(made, f"{symbol}_names", strings, len(kernels), len(texts))
    at = 0
    for index, name in enumerate(kernels):
        key = made.symbol(handle(symbol, name, index), strings, index, 1, visibility=c.STV_HIDDEN)
        made.relocate(table, 16 * index, made.machine.abs64, key)
        made.relocate(table, 16 * index + 8, made.machine.abs64, base, at)
        at += len(_encoded(name))
    return _local(made, f"{symbol}_table", table, 0, 16 * (len(kernels) + 1))


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape") + b"\0"

"""The resources of a cubin's kernels, straight from its tables: for large libraries.

It reads what ``cubin.read`` reads, less everything but the five numbers that a listing shows,
and looks only at the bytes that it needs. A cubin that is unusual in any way is left to
``cubin.read``, which also has the messages; tests compare both on whole libraries.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from fatcrate.fatbin import constants as c
from fatcrate.fatbin import cubin
from fatcrate.fatbin.structs import ELF_HEADER, SECTION_HEADER, SYMBOL

#: Name, registers, shared, stack and constant (bank 0) bytes.
Usage = tuple[str, int | None, int, int, int]

_FUNCTIONS: Final = tuple(binding << 4 | c.STT_FUNC for binding in (0, 1, 2))
#: Tables and notes, and the ones that CUDA 13 keeps for its finalizer (``.nv.merc.*``).
_SKIPPED: Final = frozenset(
    (c.SHT_NULL, c.SHT_STRTAB, c.SHT_RELA, c.SHT_REL, c.SHT_NOTE, c.SHT_CUDA_CALLGRAPH)
) | frozenset(range(0x70000082, 0x70000087))
_CONSTANT: Final = b".nv.constant0."
_SHARED: Final = b".nv.shared."
_RESERVED: Final = b".nv.shared.reserved."  # of the module
_TEXT: Final = b".text."
_INFO: Final = b".nv.info\0"
#: The fields that are used: name, type, offset, size, link, info.
_SECTION: Final = struct.Struct("<II16xQQII16x")
_SYMBOL: Final = struct.Struct("<IxBH16x")  # name, other, section
_PAIR: Final = struct.Struct("<xBxxII")


def of_kernels(data: bytes) -> list[Usage] | None:
    """The kernels in symbol order; None when the cubin needs the full reader."""
    try:
        return _read(data)
    except (struct.error, KeyError, ValueError, IndexError):
        return None


def _read(data: bytes) -> list[Usage] | None:
    head = ELF_HEADER.read(data)
    end = head.shoff + head.shnum * SECTION_HEADER.size
    if head.machine != c.EM_CUDA or head.shentsize != SECTION_HEADER.size or end > len(data):
        return None
    rows = list(_SECTION.iter_unpack(data[head.shoff : end]))
    table = _contents(data, rows[head.shstrndx])
    # By number of the section that holds the kernel's code.
    registers: dict[int, int] = {}
    constant: dict[int, int] = {}
    shared: dict[int, int] = {}
    infos: list[bytes] = []
    symbols = None
    for number, row in enumerate(rows):
        name, kind, _, size, _, info = row
        if kind in _SKIPPED:
            continue
        if kind == c.SHT_SYMTAB:
            symbols = symbols or row
        elif kind == c.SHT_CUDA_INFO:
            if table.startswith(_INFO, name):
                infos.append(_contents(data, row))
        elif table.startswith(_TEXT, name):
            registers[number] = info >> 24
        elif table.startswith(_CONSTANT, name):
            constant[info] = size
        elif table.startswith(_SHARED, name) and not table.startswith(_RESERVED, name):
            shared[info] = size
    if 0 in constant or 0 in shared:
        return None  # does not say whose it is
    if symbols is None:
        return []
    by_index: dict[int, int] = {}
    stack: dict[int, int] = {}
    for info_section in infos:
        for attribute, index, value in _pairs(info_section):
            if attribute == cubin.ATTR_REGCOUNT:
                by_index[index] = value
            elif attribute == cubin.ATTR_FRAME_SIZE:
                stack[index] = value
    return [
        (
            kernel,
            by_index.get(index, registers[section] or None),
            shared.get(section, 0),
            stack.get(index, 0),
            constant.get(section, 0),
        )
        for index, section, kernel in _kernels(
            _contents(data, symbols), _contents(data, rows[symbols[4]])
        )
    ]


def _contents(data: bytes, row: tuple[int, ...]) -> bytes:
    """A section's bytes; ``ValueError`` when it reaches behind the end."""
    offset, size = row[2], row[3]
    if offset + size > len(data):
        raise ValueError("cut off")
    return data[offset : offset + size]


def _kernels(symbols: bytes, names: bytes) -> Iterator[tuple[int, int, str]]:
    """Index, section and name of each defined kernel; only symbols of functions are read."""
    if len(symbols) % SYMBOL.size:
        raise ValueError("damaged symbol table")
    kinds = symbols[SYMBOL.offset("info") :: SYMBOL.size]
    found: list[int] = []
    for kind in _FUNCTIONS:
        at = kinds.find(kind)
        while at >= 0:
            found.append(at)
            at = kinds.find(kind, at + 1)
    for index in sorted(found):
        name, other, section = _SYMBOL.unpack_from(symbols, index * SYMBOL.size)
        if other & c.STO_CUDA_ENTRY and section != c.SHN_UNDEF:
            yield index, section, names[name : names.index(b"\0", name)].decode()


def _pairs(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Attribute, symbol and number of the records that have just these."""
    if len(data) % 12 == 0 and set(data[::12]) <= {4} and set(data[2::12]) <= {8}:
        yield from _PAIR.iter_unpack(data)
        return
    for attribute, value in cubin.attributes(data):
        if len(value) == 8:
            index, number = struct.unpack("<II", value)
            yield attribute, index, number

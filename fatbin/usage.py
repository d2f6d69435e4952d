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
from fatcrate.fatbin.elf import strings
from fatcrate.fatbin.structs import ELF_HEADER, SECTION_HEADER, SYMBOL

#: Name, registers, shared, stack and constant (bank 0) bytes.
Usage = tuple[str, int | None, int, int, int]

_SKIPPED: Final = frozenset((c.SHT_NULL, c.SHT_STRTAB, c.SHT_RELA, c.SHT_NOTE))
_FUNCTIONS: Final = tuple(binding << 4 | c.STT_FUNC for binding in (0, 1, 2))
_CONSTANT = ".nv.constant0."
_SHARED = ".nv.shared."
_TEXT = ".text."


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
    rows = list(SECTION_HEADER.rows(data[head.shoff : end]))
    table = _contents(data, rows[head.shstrndx])
    names = strings(table)
    registers: dict[str, int] = {}
    constant: dict[str, int] = {}
    shared: dict[str, int] = {}
    infos: list[bytes] = []
    symbols = None
    for row in rows:
        kind = row[1]
        if kind in _SKIPPED:
            continue
        if kind == c.SHT_SYMTAB:
            symbols = symbols or row
            continue
        name = names.get(row[0])
        if name is None:  # the end of a longer name
            name = table[row[0] : table.index(b"\0", row[0])].decode()
        if name.startswith(_CONSTANT):
            constant[name[len(_CONSTANT) :]] = row[5]
        elif name.startswith(_SHARED):
            shared[name[len(_SHARED) :]] = row[5]
        elif name == ".nv.info":
            infos.append(_contents(data, row))
        elif row[7] >> 24 and name.startswith(_TEXT):
            registers[name[len(_TEXT) :]] = row[7] >> 24
    if symbols is None:
        return []
    by_index: dict[int, int] = {}
    stack: dict[int, int] = {}
    for info in infos:
        for attribute, index, number in _pairs(info):
            if attribute == cubin.ATTR_REGCOUNT:
                by_index[index] = number
            elif attribute == cubin.ATTR_FRAME_SIZE:
                stack[index] = number
    return [
        (
            name,
            by_index.get(index, registers.get(name)),
            shared.get(name, 0),
            stack.get(index, 0),
            constant.get(name, 0),
        )
        for index, name in _kernels(_contents(data, symbols), _contents(data, rows[symbols[6]]))
    ]


def _contents(data: bytes, row: tuple[int, ...]) -> bytes:
    """A section's bytes; ``ValueError`` when it reaches behind the end."""
    offset, size = row[4], row[5]
    if offset + size > len(data):
        raise ValueError("cut off")
    return data[offset : offset + size]


def _kernels(symbols: bytes, names: bytes) -> Iterator[tuple[int, str]]:
    """Index and name of each defined kernel; only symbols of functions are looked at."""
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
        name, _, other, section, _, _ = SYMBOL.read(symbols, index * SYMBOL.size)
        if other & c.STO_CUDA_ENTRY and section != c.SHN_UNDEF:
            yield index, names[name : names.index(b"\0", name)].decode()


def _pairs(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Attribute, symbol and number of the records that have just these."""
    if len(data) % 12 == 0 and set(data[::12]) <= {4} and set(data[2::12]) <= {8}:
        for _, attribute, _, index, number in struct.iter_unpack("<BBHII", data):
            yield attribute, index, number
        return
    for attribute, value in cubin.attributes(data):
        if len(value) == 8:
            index, number = struct.unpack("<II", value)
            yield attribute, index, number

"""Reads the symbol table of LLVM bitcode without LLVM.

Only the outermost structure is decoded: identification, module records and string table;
function bodies, types and metadata are skipped by their length word. Format: LLVM's
"LLVM Bitcode File Format" and ``llvm/include/llvm/Bitcode/LLVMBitCodes.h``. Since LLVM 5
symbol names lie in a string table; before (libdevice) in the module's value symbol table.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import NoReturn

from fatcrate.lto import errors
from fatcrate.toolchain.diagnostics import Location, fail

MAGIC = b"BC\xc0\xde"
WRAPPER_MAGIC = b"\xde\xc0\x17\x0b"

# Block ids.
_BLOCKINFO, _MODULE, _IDENTIFICATION, _SYMTAB, _STRTAB = 0, 8, 13, 14, 23
# Module records.
_TRIPLE, _SECTION, _GLOBALVAR, _FUNCTION, _ALIAS, _SOURCE, _IFUNC = 2, 5, 7, 8, 14, 16, 18
_OLD_ALIAS = 9
_VERSION = 1
# Built-in abbreviation ids.
_END, _ENTER, _DEFINE, _UNABBREV = 0, 1, 2, 3

_EXTERNAL, _WEAK, _LINKONCE, _LOCAL = "strong", "weak", "linkonce", "local"
_COMMON, _EXTERN_WEAK, _AVAILABLE, _APPENDING = "common", "extern_weak", "available", "appending"
#: Encoded linkage (``getDecodedLinkage`` of LLVM's bitcode reader) to what a linker does with it.
_LINKAGE = {
    0: _EXTERNAL,
    1: _WEAK,
    2: _APPENDING,
    3: _LOCAL,
    4: _LINKONCE,
    5: _EXTERNAL,
    6: _EXTERNAL,
    7: _EXTERN_WEAK,
    8: _COMMON,
    9: _LOCAL,
    10: _WEAK,
    11: _LINKONCE,
    12: _AVAILABLE,
    13: _LOCAL,
    14: _LOCAL,
    15: _EXTERNAL,
    16: _WEAK,
    17: _WEAK,
    18: _LINKONCE,
    19: _LINKONCE,
}


@dataclass(frozen=True)
class Symbol:
    """One global value of a module."""

    name: str
    kind: str  # "function", "variable", "alias", "ifunc"
    binding: str  # "strong", "weak", "linkonce", "local", "common", "extern_weak", …
    defined: bool
    calling_convention: int = 0
    section: str = ""
    address_space: int = 0
    constant: bool = False
    thread_local: bool = False

    @property
    def is_intrinsic(self) -> bool:
        return self.name.startswith("llvm.")


@dataclass
class ModuleInfo:
    """What a linker needs to know of a module before LLVM reads it."""

    producer: str = ""  # "LLVM22.1.8"
    triple: str = ""
    source: str = ""
    symbols: list[Symbol] = field(default_factory=list)

    @property
    def llvm_version(self) -> tuple[int, ...]:
        """(22, 1, 8); empty when the producer is not LLVM's usual text."""
        digits = self.producer.removeprefix("LLVM").removesuffix("git").split(".")
        if not self.producer.startswith("LLVM") or not all(d.isdigit() for d in digits):
            return ()
        return tuple(int(d) for d in digits)

    def defined(self) -> list[Symbol]:
        """Definitions that other modules can see."""
        return [s for s in self.symbols if s.defined and s.binding not in (_LOCAL, _AVAILABLE)]

    def undefined(self) -> list[Symbol]:
        """Declarations that another module must define; intrinsics left out."""
        return [
            s
            for s in self.symbols
            if (not s.defined or s.binding == _AVAILABLE) and not s.is_intrinsic
        ]


def is_bitcode(data: bytes | memoryview) -> bool:
    """Whether the bytes begin like bitcode, with or without Apple's wrapper."""
    return bytes(data[:4]) in (MAGIC, WRAPPER_MAGIC)


class _Truncated(Exception):
    """The stream ended, or a count cannot be true."""


#: Values that are taken out of one integer; a long one is slow to shift.
_CHUNK = 24


class _Reader:
    """A cursor over a bit stream (little endian, LSB first)."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.size = len(data) * 8
        self.position = 0

    def fixed(self, width: int) -> int:
        position = self.position
        if position + width > self.size:
            raise _Truncated
        self.position = position + width
        byte = position >> 3
        window = int.from_bytes(self.data[byte : byte + 9], "little")
        return (window >> (position & 7)) & ((1 << width) - 1)

    def vbr(self, width: int) -> int:
        high = 1 << (width - 1)
        piece = self.fixed(width)
        if piece < high:
            return piece
        value, shift = piece - high, width - 1
        while True:
            piece = self.fixed(width)
            value |= (piece & (high - 1)) << shift
            if piece < high:
                return value
            shift += width - 1
            if shift > 70:
                raise _Truncated

    def fields(self, width: int, count: int) -> list[int]:
        """``count`` values of ``width`` bits."""
        if width * count > self.size - self.position:
            raise _Truncated
        position, self.position = self.position, self.position + width * count
        mask, values = (1 << width) - 1, []
        for start in range(0, count, _CHUNK):
            here, number = position + start * width, min(_CHUNK, count - start)
            last = here + number * width
            window = int.from_bytes(self.data[here >> 3 : (last + 7) >> 3], "little") >> (here & 7)
            for _ in range(number):
                values.append(window & mask)
                window >>= width
        return values

    def vbr6s(self, count: int) -> list[int]:
        """``count`` values of the encoding that records without abbreviation use."""
        values: list[int] = []
        value = shift = 0
        while len(values) < count:
            # At least one piece of six bits for each value that is still to come.
            for piece in self.fields(6, min(count - len(values), _CHUNK)):
                if piece & 32:
                    value |= (piece & 31) << shift
                    shift += 5
                    if shift > 70:
                        raise _Truncated
                else:
                    values.append(value | piece << shift)
                    value = shift = 0
        return values

    def align(self) -> None:
        self.position = (self.position + 31) & ~31
        if self.position > self.size:
            raise _Truncated


_Abbreviation = list[tuple[str, int]]


def _define_abbreviation(reader: _Reader) -> _Abbreviation:
    count = reader.vbr(5)
    if count > 4096:
        raise _Truncated
    operands: _Abbreviation = []
    for _ in range(count):
        if reader.fixed(1):
            operands.append(("literal", reader.vbr(8)))
            continue
        encoding = reader.fixed(3)
        if encoding in (1, 2):
            width = reader.vbr(5)
            if width > 64:
                raise _Truncated
            kind = "fixed" if encoding == 1 else "vbr"
            operands.append((kind, width) if width else ("literal", 0))
        elif encoding in (3, 4, 5):
            operands.append((("array", "char6", "blob")[encoding - 3], 0))
        else:
            raise _Truncated
    return operands


_CHAR6 = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"


def _scalar(reader: _Reader, operand: tuple[str, int]) -> int:
    kind, value = operand
    if kind == "literal":
        return value
    if kind == "fixed":
        return reader.fixed(value)
    if kind == "vbr":
        if value < 2:
            raise _Truncated
        return reader.vbr(value)
    if kind == "char6":
        return _CHAR6[reader.fixed(6)]
    raise _Truncated


def _array(reader: _Reader, element: tuple[str, int], count: int) -> list[int]:
    kind, width = element
    if kind == "fixed":
        return reader.fields(width, count)
    if kind == "char6":
        return [_CHAR6[value] for value in reader.fields(6, count)]
    return [_scalar(reader, element) for _ in range(count)]


def _record(
    reader: _Reader, abbreviation: _Abbreviation | None
) -> tuple[int, list[int], memoryview]:
    """Reads one record: its code, operands and blob (empty for most)."""
    no_blob = reader.data[:0]
    if abbreviation is None:
        code, count = reader.vbr(6), reader.vbr(6)
        if count * 6 > reader.size - reader.position:
            raise _Truncated
        return code, reader.vbr6s(count), no_blob
    values: list[int] = []
    index = 0
    while index < len(abbreviation):
        operand = abbreviation[index]
        if operand[0] == "array":
            count = reader.vbr(6)
            if index + 1 >= len(abbreviation):
                raise _Truncated
            element = abbreviation[index + 1]
            if element[0] == "literal" or count > reader.size - reader.position:
                raise _Truncated
            values += _array(reader, element, count)
            break
        if operand[0] == "blob":
            length = reader.vbr(6)
            reader.align()
            start = reader.position >> 3
            if start + length > len(reader.data):
                raise _Truncated
            reader.position = (start + length) * 8
            reader.align()
            if not values:
                raise _Truncated
            return values[0], values[1:], reader.data[start : start + length]
        values.append(_scalar(reader, operand))
        index += 1
    if not values:
        raise _Truncated
    return values[0], values[1:], no_blob


@dataclass
class _Parsed:
    version: int = 0
    producer: str = ""
    triple: str = ""
    source: str = ""
    sections: list[str] = field(default_factory=list)
    globals: list[tuple[int, list[int]]] = field(default_factory=list)
    strings: memoryview = field(default_factory=lambda: memoryview(b""))
    modules: int = 0
    names: dict[int, str] = field(default_factory=dict)  # value number -> name, before LLVM 5
    symtab_abbreviations: list[_Abbreviation] = field(default_factory=list)


def _text(operands: list[int]) -> str:
    try:
        raw = bytes(operands)
    except ValueError:  # not characters
        raw = bytes(b & 0xFF for b in operands)
    return raw.decode("utf-8", "replace")


def _block(reader: _Reader, block: int, width: int, end: int, parsed: _Parsed) -> None:
    """Decodes one interesting block's own records; most nested blocks are skipped."""
    if width < 2 or width > 32:
        raise _Truncated
    abbreviations = list(parsed.symtab_abbreviations) if block == _SYMTAB else []
    described = -1  # the block that BLOCKINFO is speaking of
    while reader.position < end:
        code = reader.fixed(width)
        if code == _END:
            return
        if code == _ENTER:
            nested, nested_width = reader.vbr(8), reader.vbr(4)
            reader.align()
            nested_end = reader.fixed(32) * 32 + reader.position
            if nested_end > end:
                raise _Truncated
            if block == _MODULE and nested in (_BLOCKINFO, _SYMTAB):
                _block(reader, nested, nested_width, nested_end, parsed)
            reader.position = nested_end
        elif code == _DEFINE:
            abbreviation = _define_abbreviation(reader)
            if block != _BLOCKINFO:
                abbreviations.append(abbreviation)
            elif described == _SYMTAB:
                parsed.symtab_abbreviations.append(abbreviation)
        else:
            if code != _UNABBREV and code - 4 >= len(abbreviations):
                raise _Truncated
            chosen = abbreviations[code - 4] if code != _UNABBREV else None
            number, operands, blob = _record(reader, chosen)
            if block == _BLOCKINFO and number == 1 and operands:
                described = operands[0]
            _collect(block, number, operands, blob, parsed)
    raise _Truncated


def _collect(
    block: int, number: int, operands: list[int], blob: memoryview, parsed: _Parsed
) -> None:
    if block == _IDENTIFICATION and number == 1:
        parsed.producer = _text(operands)
    elif block == _STRTAB and number == 1:
        parsed.strings = blob
    elif block == _SYMTAB and number == 1 and operands:
        parsed.names[operands[0]] = _text(operands[1:])
    elif block == _SYMTAB and number == 3 and len(operands) > 1:
        parsed.names[operands[0]] = _text(operands[2:])
    elif block == _MODULE:
        if number == _VERSION and operands:
            parsed.version = operands[0]
        elif number == _TRIPLE:
            parsed.triple = _text(operands)
        elif number == _SOURCE:
            parsed.source = _text(operands)
        elif number == _SECTION:
            parsed.sections.append(_text(operands))
        elif number in (_GLOBALVAR, _FUNCTION, _ALIAS, _IFUNC, _OLD_ALIAS):
            parsed.globals.append((number, operands))


def _symbol(index: int, number: int, operands: list[int], parsed: _Parsed) -> Symbol:
    """Decodes a global value's record; see the layouts in LLVM's BitcodeReader.cpp."""
    if parsed.version < 2:
        name = parsed.names.get(index, "")
        operands = [0, 0, *operands]
    elif len(operands) < 2 or operands[0] + operands[1] > len(parsed.strings):
        raise _Truncated
    else:
        start, end = operands[0], operands[0] + operands[1]
        name = bytes(parsed.strings[start:end]).decode("utf-8", "replace")
    if len(operands) < 6 + 2 * (number in (_GLOBALVAR, _FUNCTION)):
        raise _Truncated

    def section(index: int) -> str:
        if not index:
            return ""
        if index > len(parsed.sections):
            raise _Truncated
        return parsed.sections[index - 1]

    if number == _GLOBALVAR:
        flags = operands[3]
        return Symbol(
            name,
            "variable",
            _LINKAGE.get(operands[5], _EXTERNAL),
            operands[4] != 0,
            section=section(operands[7]),
            address_space=flags >> 2,
            constant=bool(flags & 1),
            thread_local=len(operands) > 9 and operands[9] != 0,
        )
    if number == _FUNCTION:
        return Symbol(
            name,
            "function",
            _LINKAGE.get(operands[5], _EXTERNAL),
            not operands[4],
            calling_convention=operands[3],
            section=section(operands[8]) if len(operands) > 8 else "",
        )
    kind = "ifunc" if number == _IFUNC else "alias"
    return Symbol(name, kind, _LINKAGE.get(operands[5], _EXTERNAL), True)


def _bad(file: str, message: str, offset: int) -> NoReturn:
    fail(
        errors.BAD_BITCODE,
        file,
        message,
        remedy="compile it again with the rustc of this toolchain",
        location=Location(file, offset=offset),
    )


def unwrap(data: memoryview, file: str) -> memoryview:
    """The bitcode proper of a file that may carry Apple's 20-byte wrapper header."""
    if bytes(data[:4]) != WRAPPER_MAGIC:
        return data
    if len(data) < 20:
        _bad(file, "ends inside the bitcode wrapper header", len(data))
    offset, size = struct.unpack_from("<II", data, 8)
    if offset + size > len(data):
        _bad(file, "has a bitcode wrapper that goes past its end", 8)
    return data[offset : offset + size]


def read(data: memoryview, file: str) -> ModuleInfo:
    """The symbol table of one module. ``file`` names it in messages. Raises FC0302."""
    data = unwrap(data, file)
    if bytes(data[:4]) != MAGIC:
        _bad(file, "is not LLVM bitcode", 0)
    reader = _Reader(data)
    reader.position = 32
    parsed = _Parsed()
    try:
        _top_level(reader, parsed)
        if parsed.modules != 1:
            _bad(file, f"holds {parsed.modules} modules where one is wanted", 0)
        symbols = [_symbol(i, *record, parsed) for i, record in enumerate(parsed.globals)]
    except _Truncated:
        _bad(file, "is damaged or truncated bitcode", min(reader.position // 8, len(data)))
    return ModuleInfo(parsed.producer, parsed.triple, parsed.source, symbols)


def _top_level(reader: _Reader, parsed: _Parsed) -> None:
    while reader.size - reader.position >= 64:
        if reader.fixed(2) != _ENTER:
            raise _Truncated
        block, width = reader.vbr(8), reader.vbr(4)
        reader.align()
        words = reader.fixed(32)
        end = reader.position + words * 32
        if end > reader.size:
            raise _Truncated
        if block in (_MODULE, _IDENTIFICATION, _STRTAB):
            parsed.modules += block == _MODULE
            _block(reader, block, width, end, parsed)
        reader.position = end

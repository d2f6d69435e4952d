"""Reads the symbol table of LLVM bitcode without LLVM.

Only the outermost structure is decoded: identification, module records and string table;
function bodies, types and metadata are skipped by their length word. Format: LLVM's
"LLVM Bitcode File Format" and ``llvm/include/llvm/Bitcode/LLVMBitCodes.h``. Since LLVM 5
symbol names lie in a string table; before (libdevice) in the module's value symbol table.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from fatcrate.lto import errors
from fatcrate.lto.bitstream import Abbreviation, Reader, Truncated, define_abbreviation, record
from fatcrate.toolchain.diagnostics import Location, fail

MAGIC = b"BC\xc0\xde"
WRAPPER_MAGIC = b"\xde\xc0\x17\x0b"

# Block ids.
_BLOCKINFO, _MODULE, _IDENTIFICATION, _SYMTAB, _STRTAB = 0, 8, 13, 14, 23
# Module records.
_TRIPLE, _LAYOUT, _SECTION = 2, 3, 5
_GLOBALVAR, _FUNCTION, _ALIAS, _SOURCE, _IFUNC = 7, 8, 14, 16, 18
_OLD_ALIAS = 9
_VERSION = 1
_HAS_STRTAB = 2  # a module's version since LLVM 5
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


class Symbol(NamedTuple):
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


class ModuleInfo(NamedTuple):
    """What a linker needs to know of a module before LLVM reads it."""

    producer: str = ""  # "LLVM22.1.8"
    triple: str = ""
    source: str = ""
    symbols: Sequence[Symbol] = ()
    layout: str = ""  # "e-p6:32:32-i64:64"

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


class _Parsed:
    def __init__(self) -> None:
        self.version = 0
        self.producer = ""
        self.triple = ""
        self.layout = ""
        self.source = ""
        self.sections: list[str] = []
        self.globals: list[tuple[int, list[int]]] = []
        self.strings = memoryview(b"")
        self.modules = 0
        self.names: dict[int, str] = {}  # value number -> name, before LLVM 5
        self.symtab_abbreviations: list[Abbreviation] = []


def _text(operands: list[int]) -> str:
    try:
        raw = bytes(operands)
    except ValueError:  # not characters
        raw = bytes(b & 0xFF for b in operands)
    return raw.decode("utf-8", "replace")


def _block(reader: Reader, block: int, width: int, end: int, parsed: _Parsed) -> None:
    """Decodes one interesting block's own records; most nested blocks are skipped."""
    if width < 2 or width > 32:
        raise Truncated
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
                raise Truncated
            # With a string table these two say nothing about names, and take long to read.
            old = parsed.version < _HAS_STRTAB and nested in (_BLOCKINFO, _SYMTAB)
            if block == _MODULE and old:
                _block(reader, nested, nested_width, nested_end, parsed)
            reader.position = nested_end
        elif code == _DEFINE:
            abbreviation = define_abbreviation(reader)
            if block != _BLOCKINFO:
                abbreviations.append(abbreviation)
            elif described == _SYMTAB:
                parsed.symtab_abbreviations.append(abbreviation)
        else:
            if code != _UNABBREV and code - 4 >= len(abbreviations):
                raise Truncated
            chosen = abbreviations[code - 4] if code != _UNABBREV else None
            number, operands, blob = record(reader, chosen)
            if block == _BLOCKINFO and number == 1 and operands:
                described = operands[0]
            _collect(block, number, operands, blob, parsed)
    raise Truncated


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
        elif number == _LAYOUT:
            parsed.layout = _text(operands)
        elif number == _SOURCE:
            parsed.source = _text(operands)
        elif number == _SECTION:
            parsed.sections.append(_text(operands))
        elif number in (_GLOBALVAR, _FUNCTION, _ALIAS, _IFUNC, _OLD_ALIAS):
            parsed.globals.append((number, operands))


def _symbol(index: int, number: int, operands: list[int], parsed: _Parsed) -> Symbol:
    """Decodes a global value's record; see the layouts in LLVM's BitcodeReader.cpp."""
    if parsed.version < _HAS_STRTAB:
        name = parsed.names.get(index, "")
        operands = [0, 0, *operands]
    elif len(operands) < 2 or operands[0] + operands[1] > len(parsed.strings):
        raise Truncated
    else:
        start, end = operands[0], operands[0] + operands[1]
        name = bytes(parsed.strings[start:end]).decode("utf-8", "replace")
    if len(operands) < 6 + 2 * (number in (_GLOBALVAR, _FUNCTION)):
        raise Truncated

    def section(index: int) -> str:
        if not index:
            return ""
        if index > len(parsed.sections):
            raise Truncated
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
    reader = Reader(data)
    reader.position = 32
    parsed = _Parsed()
    try:
        _top_level(reader, parsed)
        if parsed.modules != 1:
            _bad(file, f"holds {parsed.modules} modules where one is wanted", 0)
        symbols = [_symbol(i, *each, parsed) for i, each in enumerate(parsed.globals)]
    except Truncated:
        _bad(file, "is damaged or truncated bitcode", min(reader.position // 8, len(data)))
    return ModuleInfo(parsed.producer, parsed.triple, parsed.source, symbols, parsed.layout)


def _top_level(reader: Reader, parsed: _Parsed) -> None:
    while reader.size - reader.position >= 64:
        if reader.fixed(2) != _ENTER:
            raise Truncated
        block, width = reader.vbr(8), reader.vbr(4)
        reader.align()
        words = reader.fixed(32)
        end = reader.position + words * 32
        if end > reader.size:
            raise Truncated
        if block in (_MODULE, _IDENTIFICATION, _STRTAB):
            parsed.modules += block == _MODULE
            _block(reader, block, width, end, parsed)
        reader.position = end

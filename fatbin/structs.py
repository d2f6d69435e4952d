"""Binary layouts as tables: the one description from which records are read and written.

A :class:`Layout` pairs a ``NamedTuple`` with a field list such as ``"magic:u32 size:u64"``.
All records here are little endian and packed (the formats align their fields themselves).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Generic, NamedTuple, TypeVar

_CODES = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i32": "i", "i64": "q"}

Buffer = bytes | bytearray | memoryview
Record = TypeVar("Record", bound="tuple[Any, ...]")


class Layout(Generic[Record]):
    """A fixed-size record. ``spec`` lists ``name:code`` in order; ``bytesN`` is a code too.

    The names must be those of the NamedTuple ``cls``; a table that disagrees does not import.
    """

    def __init__(self, cls: type[Record], spec: str) -> None:
        fields = [item.split(":") for item in spec.split()]
        names = tuple(name for name, _ in fields)
        if names != cls._fields:  # type: ignore[attr-defined]
            raise TypeError(f"{cls.__name__}: the table names {names}")
        codes = [_CODES.get(code) or f"{int(code.removeprefix('bytes'))}s" for _, code in fields]
        self._cls = cls
        self._struct = struct.Struct("<" + "".join(codes))
        self.size = self._struct.size
        self._offsets: dict[str, int] = {}
        offset = 0
        for name, code in zip(names, codes, strict=True):
            self._offsets[name] = offset
            offset += struct.calcsize("<" + code)

    def offset(self, name: str) -> int:
        """The byte offset of a field from the start of the record."""
        return self._offsets[name]

    def read(self, data: Buffer, offset: int = 0) -> Record:
        """The record at ``offset``. Raises ``struct.error`` when ``data`` ends before it."""
        return self._cls._make(self._struct.unpack_from(data, offset))  # type: ignore[attr-defined,no-any-return]

    def read_many(self, data: Buffer) -> Iterator[Record]:
        """All records of ``data``, whose size is a multiple of the layout's."""
        return map(self._cls._make, self._struct.iter_unpack(data))  # type: ignore[attr-defined]

    def rows(self, data: Buffer) -> Iterator[tuple[Any, ...]]:
        """Like :meth:`read_many`, as plain tuples: for loops over very many records."""
        return self._struct.iter_unpack(data)

    def write(self, record: Record) -> bytes:
        """The bytes of ``record``."""
        return self._struct.pack(*record)


# --- CUDA fatbin (undocumented; measured against CUDA 13.0 and 13.5 tools) -----------------


class FatbinHeader(NamedTuple):
    """Start of a container. ``payload`` counts the bytes of all entries that follow."""

    magic: int
    version: int
    header_size: int
    payload: int


FATBIN_HEADER = Layout(FatbinHeader, "magic:u32 version:u16 header_size:u16 payload:u64")


class EntryHeader(NamedTuple):
    """Start of one image. Offsets count from the entry's first byte.

    ``stored`` is the payload size rounded up to 8; ``compressed`` and ``uncompressed`` are
    exact sizes, both 0 for a payload that is not compressed.
    """

    kind: int
    version: int
    header_size: int
    stored: int
    compressed: int
    extra_offset: int
    minor: int
    major: int
    sm: int
    ident_offset: int
    ident_length: int
    flags: int
    key: int
    uncompressed: int


ENTRY_HEADER = Layout(
    EntryHeader,
    "kind:u16 version:u16 header_size:u32 stored:u64 compressed:u32 extra_offset:u32"
    " minor:u16 major:u16 sm:u32 ident_offset:u32 ident_length:u32 flags:u64 key:u64"
    " uncompressed:u64",
)


class Extra(NamedTuple):
    """Descriptor of an entry's options or copy of ``.nv.compat``."""

    offset: int
    length: int


EXTRA = Layout(Extra, "offset:u32 length:u32")


class Wrapper(NamedTuple):
    """``.nvFatBinSegment`` / ``.hipFatBinSegment``: what the runtime registers."""

    magic: int
    version: int
    data: int
    reserved: int


WRAPPER = Layout(Wrapper, "magic:u32 version:u32 data:u64 reserved:u64")


# --- ELF64 (System V gABI) -----------------------------------------------------------------


class ElfHeader(NamedTuple):
    """``Elf64_Ehdr``; ``ident`` is the 16-byte ``e_ident``."""

    ident: bytes
    type: int
    machine: int
    version: int
    entry: int
    phoff: int
    shoff: int
    flags: int
    ehsize: int
    phentsize: int
    phnum: int
    shentsize: int
    shnum: int
    shstrndx: int


ELF_HEADER = Layout(
    ElfHeader,
    "ident:bytes16 type:u16 machine:u16 version:u32 entry:u64 phoff:u64 shoff:u64 flags:u32"
    " ehsize:u16 phentsize:u16 phnum:u16 shentsize:u16 shnum:u16 shstrndx:u16",
)


class SectionHeader(NamedTuple):
    """``Elf64_Shdr``."""

    name: int
    type: int
    flags: int
    addr: int
    offset: int
    size: int
    link: int
    info: int
    addralign: int
    entsize: int


SECTION_HEADER = Layout(
    SectionHeader,
    "name:u32 type:u32 flags:u64 addr:u64 offset:u64 size:u64 link:u32 info:u32"
    " addralign:u64 entsize:u64",
)


class ProgramHeader(NamedTuple):
    """``Elf64_Phdr``."""

    type: int
    flags: int
    offset: int
    vaddr: int
    paddr: int
    filesz: int
    memsz: int
    align: int


PROGRAM_HEADER = Layout(
    ProgramHeader,
    "type:u32 flags:u32 offset:u64 vaddr:u64 paddr:u64 filesz:u64 memsz:u64 align:u64",
)


class Symbol(NamedTuple):
    """``Elf64_Sym``."""

    name: int
    info: int
    other: int
    shndx: int
    value: int
    size: int


SYMBOL = Layout(Symbol, "name:u32 info:u8 other:u8 shndx:u16 value:u64 size:u64")


class Rela(NamedTuple):
    """``Elf64_Rela``."""

    offset: int
    info: int
    addend: int


RELA = Layout(Rela, "offset:u64 info:u64 addend:i64")


class NoteHeader(NamedTuple):
    """``Elf64_Nhdr``; the owner and the descriptor follow, each padded to 4."""

    owner_size: int
    data_size: int
    type: int


NOTE_HEADER = Layout(NoteHeader, "owner_size:u32 data_size:u32 type:u32")

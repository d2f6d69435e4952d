"""A bounded reader of 64-bit little-endian ELF files (host objects, cubins, code objects).

Every count, offset and size is checked against the file before it is used. Sections are read
only when asked for. Source: System V gABI, chapters 4 and 5.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from fatcrate.fatbin import constants as c
from fatcrate.fatbin import errors
from fatcrate.fatbin.source import Source
from fatcrate.fatbin.structs import (
    ELF_HEADER,
    NOTE_HEADER,
    PROGRAM_HEADER,
    SECTION_HEADER,
    SYMBOL,
    ElfHeader,
    Layout,
    ProgramHeader,
    Record,
    SectionHeader,
    Symbol,
)

_NAME_LIMIT = 1 << 16


class Section(NamedTuple):
    """A section header with its name and number."""

    number: int
    name: str
    header: SectionHeader


class Note(NamedTuple):
    """One entry of a note section or segment."""

    owner: str
    type: int
    data: bytes


def strings(table: bytes) -> dict[int, str]:
    """The strings of a table by offset, all at once; ends of strings are not in it."""
    parts = table.decode("latin-1").split("\0") if table.isascii() else []
    starts = itertools.accumulate((len(part) + 1 for part in parts), initial=0)
    return dict(zip(starts, parts, strict=False))


class Elf:
    """An opened ELF file. Raises FC0405 (FC0408 for 32-bit or big-endian) on faults."""

    def __init__(self, source: Source) -> None:
        self.source = source
        if source.size < ELF_HEADER.size:
            source.fault(errors.TRUNCATED, 0, "is too short for an ELF header")
        self.header: ElfHeader = ELF_HEADER.read(source.read(0, ELF_HEADER.size, "ELF header"))
        ident = self.header.ident
        if ident[:4] != c.ELF_MAGIC:
            source.fault(errors.BAD_ELF, 0, "does not start with the ELF magic")
        if ident[4] != 2 or ident[5] != 1:
            source.fault(errors.UNSUPPORTED, 4, "is a 32-bit or big-endian ELF file")

    @property
    def machine(self) -> int:
        return self.header.machine

    @cached_property
    def _section_headers(self) -> list[SectionHeader]:
        head = self.header
        if head.shoff == 0:
            return []
        if head.shentsize != SECTION_HEADER.size:
            self.source.fault(
                errors.BAD_ELF, 0x3A, f"has section headers of {head.shentsize} bytes"
            )
        count = head.shnum
        first = SECTION_HEADER.read(
            self.source.read(head.shoff, SECTION_HEADER.size, "section header table")
        )
        if count == 0:  # more than 0xff00 sections: the count is in section 0
            count = first.size
        size = count * SECTION_HEADER.size
        self.source.check(head.shoff, size, "section header table")
        return list(
            SECTION_HEADER.read_many(self.source.read(head.shoff, size, "section header table"))
        )

    @cached_property
    def sections(self) -> list[Section]:
        """All sections, the null section first."""
        headers = self._section_headers
        if not headers:
            return []
        index = self.header.shstrndx
        if index == c.SHN_XINDEX:
            index = headers[0].link
        if index >= len(headers):
            self.source.fault(errors.BAD_ELF, 0x3E, f"names section {index} as its name table")
        table = self.contents(headers[index], "section names")
        names = strings(table)
        return [
            Section(i, names[h.name] if h.name in names else self.string(table, h.name), h)
            for i, h in enumerate(headers)
        ]

    def string(self, table: bytes, offset: int) -> str:
        """The NUL-terminated string at ``offset`` of a string table."""
        end = table.find(b"\0", offset, offset + _NAME_LIMIT)
        if offset >= len(table) or end < 0:
            if offset == 0:
                return ""
            self.source.fault(errors.BAD_ELF, 0, f"has a name at {offset:#x} of a string table")
        return table[offset:end].decode("utf-8", "backslashreplace")

    def contents(self, header: SectionHeader, what: str) -> bytes:
        """A section's bytes; nothing for NOBITS."""
        if header.type == c.SHT_NOBITS:
            return b""
        return bytes(self.source.read(header.offset, header.size, what))

    def section(self, name: str) -> Section | None:
        """The first section of that name."""
        return next((s for s in self.sections if s.name == name), None)

    def section_bytes(self, name: str) -> bytes | None:
        """The bytes of the first section of that name."""
        found = self.section(name)
        return None if found is None else self.contents(found.header, f"section {name}")

    @cached_property
    def segments(self) -> list[ProgramHeader]:
        """The program headers."""
        head = self.header
        if head.phoff == 0 or head.phnum == 0:
            return []
        if head.phentsize != PROGRAM_HEADER.size:
            self.source.fault(
                errors.BAD_ELF, 0x36, f"has program headers of {head.phentsize} bytes"
            )
        count = head.phnum
        if count == c.PN_XNUM and self._section_headers:
            count = self._section_headers[0].info
        size = count * PROGRAM_HEADER.size
        return list(
            PROGRAM_HEADER.read_many(self.source.read(head.phoff, size, "program header table"))
        )

    def records(self, header: SectionHeader, layout: Layout[Record], what: str) -> list[Record]:
        """A section as records. Raises FC0405 when it is no whole number of them."""
        if header.size % layout.size:
            self.source.fault(errors.BAD_ELF, header.offset, f"has a damaged {what}")
        return list(layout.read_many(self.contents(header, what)))

    def symbol_rows(self) -> tuple[Iterator[tuple[Any, ...]], bytes]:
        """The symbols as plain tuples, from index 0, and the table of their names."""
        for section in self.sections:
            head = section.header
            if head.type == c.SHT_SYMTAB:
                if head.link >= len(self.sections) or head.size % SYMBOL.size:
                    self.source.fault(errors.BAD_ELF, head.offset, "has a damaged symbol table")
                names = self.contents(self.sections[head.link].header, "symbol names")
                return SYMBOL.rows(self.contents(head, "symbol table")), names
        return iter(()), b""

    def symbols(self) -> Iterator[tuple[str, Symbol]]:
        """Names and records of the symbol table, in order, from index 0."""
        rows, names = self.symbol_rows()
        for row in rows:
            yield self.string(names, row[0]), Symbol(*row)

    def notes(self, data: bytes, where: int = 0) -> Iterator[Note]:
        """The notes in ``data``, a note section or segment with 4-byte alignment."""
        offset = 0
        while offset + NOTE_HEADER.size <= len(data):
            head = NOTE_HEADER.read(data, offset)
            owner = offset + NOTE_HEADER.size
            body = owner + (head.owner_size + 3) // 4 * 4
            end = body + head.data_size
            if end > len(data):
                self.source.fault(errors.BAD_ELF, where + offset, "has a note that is cut off")
            text = data[owner : owner + head.owner_size].rstrip(b"\0")
            yield Note(text.decode("latin-1"), head.type, data[body:end])
            offset = (end + 3) // 4 * 4

    @cached_property
    def extent(self) -> int:
        """The number of bytes that the headers, sections and segments reach to.

        Raises FC0401 when that is more than the file has.
        """
        head = self.header
        end = head.shoff + len(self._section_headers) * SECTION_HEADER.size
        end = max(end, ELF_HEADER.size, head.phoff + len(self.segments) * PROGRAM_HEADER.size)
        for section in self._section_headers:
            if section.type not in (c.SHT_NULL, c.SHT_NOBITS):
                end = max(end, section.offset + section.size)
        for segment in self.segments:
            end = max(end, segment.offset + segment.filesz)
        self.source.check(0, end, "the ELF file")
        return end

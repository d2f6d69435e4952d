"""Writes relocatable ELF64 objects for x86_64 and aarch64 hosts, without a compiler.

Source: System V gABI chapter 4; psABI supplements for the relocation numbers and for the
``.note.gnu.property`` features.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from fatcrate.fatbin import constants as c
from fatcrate.fatbin.source import Source
from fatcrate.fatbin.structs import (
    ELF_HEADER,
    RELA,
    SECTION_HEADER,
    SYMBOL,
    ElfHeader,
    Rela,
    SectionHeader,
    Symbol,
)


@dataclass(frozen=True)
class Machine:
    """What differs between hosts: the 64-bit absolute relocation and the feature word of
    ``.note.gnu.property``."""

    name: str
    number: int
    abs64: int
    property_type: int
    property_bits: int


#: Branch protection features (IBT, SHSTK; BTI, PAC, GCS): an object without the note would
#: turn them off for the whole program, and linkers warn about it.
MACHINES: Final = {
    "x86_64": Machine("x86_64", c.EM_X86_64, 1, 0xC0000002, 3),
    "aarch64": Machine("aarch64", c.EM_AARCH64, 257, 0xC0000000, 7),
}

Content = bytes | Source


@dataclass
class _Section:
    name: str
    type: int
    flags: int
    align: int
    content: Content
    relocations: list[Rela] = field(default_factory=list)
    offset: int = 0

    @property
    def size(self) -> int:
        return self.content.size if isinstance(self.content, Source) else len(self.content)


@dataclass(frozen=True)
class _Symbol:
    name: str
    binding: int
    type: int
    visibility: int
    section: int
    value: int
    size: int


class ObjectFile:
    """An object under construction. Sections and symbols are numbered from 1 as added."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._sections: list[_Section] = []
        self._symbols: list[_Symbol] = []

    def section(
        self, name: str, content: Content, *, flags: int, align: int, kind: int = c.SHT_PROGBITS
    ) -> int:
        """Adds a section; returns its number."""
        self._sections.append(_Section(name, kind, flags, align, content))
        return len(self._sections)

    def symbol(
        self,
        name: str,
        section: int = c.SHN_UNDEF,
        value: int = 0,
        size: int = 0,
        *,
        binding: int = c.STB_GLOBAL,
        kind: int = c.STT_OBJECT,
        visibility: int = c.STV_DEFAULT,
    ) -> int:
        """Adds a symbol; returns a handle for :meth:`relocate`."""
        self._symbols.append(_Symbol(name, binding, kind, visibility, section, value, size))
        return len(self._symbols) - 1

    def relocate(self, section: int, offset: int, kind: int, symbol: int, addend: int = 0) -> None:
        """Adds a relocation at ``offset`` of ``section`` against a symbol handle."""
        self._sections[section - 1].relocations.append(Rela(offset, symbol << 32 | kind, addend))

    def mark_harmless(self) -> None:
        """Adds the notes that say: no executable stack, branch protection is respected."""
        m = self.machine
        word = struct.pack("<III4x", m.property_type, 4, m.property_bits)
        note = struct.pack("<III4s", 4, len(word), 5, b"GNU\0") + word
        self.section(".note.gnu.property", note, flags=c.SHF_ALLOC, align=8, kind=c.SHT_NOTE)
        self.section(".note.GNU-stack", b"", flags=0, align=1)

    def write(self, stream: BinaryIO) -> None:
        """Writes the object: header, sections, symbol and name tables, section headers."""
        order = self._symbol_order()
        sections = self._all_sections(order)
        offset = ELF_HEADER.size
        for section in sections:
            offset = _align(offset, section.align)
            section.offset = offset
            offset += section.size
        table = _align(offset, 8)
        head = ElfHeader(
            ident=c.ELF_MAGIC + bytes((2, 1, 1)) + bytes(9),
            type=c.ET_REL, machine=self.machine.number, version=1, entry=0, phoff=0,
            shoff=table, flags=0, ehsize=ELF_HEADER.size, phentsize=0, phnum=0,
            shentsize=SECTION_HEADER.size, shnum=len(sections) + 1, shstrndx=len(sections),
        )  # fmt: skip
        stream.write(ELF_HEADER.write(head))
        at = ELF_HEADER.size
        for section in sections:
            stream.write(bytes(section.offset - at))
            _copy(section.content, stream)
            at = section.offset + section.size
        stream.write(bytes(table - at))
        stream.write(bytes(SECTION_HEADER.size))
        stream.writelines(self._headers(sections, order))

    def _symbol_order(self) -> list[int]:
        """Handles with the local symbols first, as ELF demands."""
        handles = range(len(self._symbols))
        return sorted(handles, key=lambda h: self._symbols[h].binding != c.STB_LOCAL)

    def _all_sections(self, order: list[int]) -> list[_Section]:
        """The given sections, their relocations, then .symtab, .strtab and .shstrtab."""
        number = {handle: position + 1 for position, handle in enumerate(order)}
        sections = [_Section(s.name, s.type, s.flags, s.align, s.content) for s in self._sections]
        for section in self._sections:
            if section.relocations:
                data = b"".join(
                    RELA.write(r._replace(info=number[r.info >> 32] << 32 | r.info & 0xFFFFFFFF))
                    for r in section.relocations
                )
                name = ".rela" + section.name
                sections.append(_Section(name, c.SHT_RELA, c.SHF_INFO_LINK, 8, data))
        names, records = bytearray(b"\0"), bytearray(SYMBOL.size)
        for handle in order:
            s = self._symbols[handle]
            info = s.binding << 4 | s.type
            records += SYMBOL.write(
                Symbol(len(names), info, s.visibility, s.section, s.value, s.size)
            )
            names += s.name.encode() + b"\0"
        sections.append(_Section(".symtab", c.SHT_SYMTAB, 0, 8, bytes(records)))
        sections.append(_Section(".strtab", c.SHT_STRTAB, 0, 1, bytes(names)))
        section_names = b"\0" + b"".join(s.name.encode() + b"\0" for s in sections)
        sections.append(_Section(".shstrtab", c.SHT_STRTAB, 0, 1, section_names + b".shstrtab\0"))
        return sections

    def _headers(self, sections: list[_Section], order: list[int]) -> list[bytes]:
        symtab = len(sections) - 2
        targets = iter([i for i, s in enumerate(self._sections, 1) if s.relocations])
        local = sum(self._symbols[h].binding == c.STB_LOCAL for h in order)
        made: list[bytes] = []
        name = 1
        for section in sections:
            link = info = entry = 0
            if section.type == c.SHT_RELA:
                link, info, entry = symtab, next(targets), RELA.size
            elif section.type == c.SHT_SYMTAB:
                link, info, entry = symtab + 1, local + 1, SYMBOL.size
            made.append(
                SECTION_HEADER.write(
                    SectionHeader(
                        name,
                        section.type,
                        section.flags,
                        0,
                        section.offset,
                        section.size,
                        link,
                        info,
                        section.align,
                        entry,
                    )
                )
            )
            name += len(section.name.encode()) + 1
        return made


def _align(offset: int, align: int) -> int:
    return (offset + align - 1) // align * align


def _copy(content: Content, stream: BinaryIO) -> None:
    if isinstance(content, Source):
        stream.writelines(content.chunks())
    else:
        stream.write(content)

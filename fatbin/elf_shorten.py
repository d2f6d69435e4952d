"""Shortens sections of relocatable ELF objects.

Symbols and relocation addends that point into such a section follow its contents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

from fatcrate.fatbin import constants as c
from fatcrate.fatbin import errors
from fatcrate.fatbin.elf import Elf, Section
from fatcrate.fatbin.elf_edit import Dead, Layout, Patch, copy
from fatcrate.fatbin.structs import (
    ELF_HEADER,
    RELA,
    SECTION_HEADER,
    SYMBOL,
    Rela,
    Symbol,
)

_ALIGN: Final = 8
_ABSOLUTE: Final = (1, 257)  # R_X86_64_64, R_AARCH64_ABS64


@dataclass(frozen=True)
class Move:
    """A container of a relocatable object's section: where it was, and where it goes."""

    old: int
    old_size: int
    new: int
    new_size: int


@dataclass(frozen=True)
class Shortened:
    """A section of a relocatable object with its new contents, container by container."""

    section: Section
    moves: tuple[Move, ...]
    parts: tuple[bytes | tuple[int, int], ...]

    @property
    def size(self) -> int:
        return self.moves[-1].new + self.moves[-1].new_size if self.moves else 0

    def moved(self, offset: int) -> int:
        """Where an offset of the section goes. Ends follow the container before them."""
        for move in self.moves:
            if move.old <= offset < move.old + move.old_size:
                return move.new + min(offset - move.old, move.new_size)
        if self.moves and offset >= self.moves[-1].old + self.moves[-1].old_size:
            return self.size
        return offset


def rewrite_object(elf: Elf, shortened: Sequence[Shortened], stream: BinaryIO) -> None:
    """Writes a relocatable object with some sections shortened.

    Raises FC0408 when a relocation points into such a section in a way that cannot follow.
    """
    granule = max([_ALIGN, *(s.header.addralign for s in elf.sections)])
    by_number = {s.section.number: s for s in shortened}
    dead, patches = [], []
    for item in sorted(shortened, key=lambda s: s.section.header.offset):
        head = item.section.header
        dead.append(Dead(head.offset + item.size, head.offset + head.size))
        patches.append(Patch(head.offset, item.parts))
    layout = Layout(elf.source.size, dead, granule)
    headers = [
        s.header._replace(
            offset=layout(s.header.offset),
            size=by_number[s.number].size if s.number in by_number else s.header.size,
        )
        for s in elf.sections
    ]
    shoff = layout(elf.header.shoff)
    table = b"".join(SECTION_HEADER.write(h) for h in headers)
    patches += [
        Patch(0, (ELF_HEADER.write(elf.header._replace(shoff=shoff)),)),
        Patch(elf.header.shoff, (table,)),
        *_symbol_patches(elf, by_number),
    ]
    copy(elf.source, layout, patches, stream, layout.size)


def _symbol_patches(elf: Elf, shortened: dict[int, Shortened]) -> list[Patch]:
    """New contents of the symbol table and of the relocations that point into the sections."""
    symtab = next((s for s in elf.sections if s.header.type == c.SHT_SYMTAB), None)
    if symtab is None:
        return []
    symbols = elf.records(symtab.header, SYMBOL, "symbol table")
    made = []
    for symbol in symbols:
        item = shortened.get(symbol.shndx)
        if item is not None and symbol.info & 0xF != c.STT_SECTION:
            value = item.moved(symbol.value)
            size = item.moved(symbol.value + symbol.size) - value if symbol.size else 0
            symbol = symbol._replace(value=value, size=size)
        made.append(SYMBOL.write(symbol))
    patches = [Patch(symtab.header.offset, (b"".join(made),))]
    for section in elf.sections:
        if section.header.type == c.SHT_RELA and section.header.link == symtab.number:
            data = [
                RELA.write(_moved_relocation(elf, rela, symbols, shortened))
                for rela in elf.records(section.header, RELA, "relocation table")
            ]
            patches.append(Patch(section.header.offset, (b"".join(data),)))
    return patches


def _moved_relocation(
    elf: Elf, rela: Rela, symbols: Sequence[Symbol], shortened: dict[int, Shortened]
) -> Rela:
    number, kind = rela.info >> 32, rela.info & 0xFFFFFFFF
    if number >= len(symbols):
        elf.source.fault(errors.BAD_ELF, 0, f"has a relocation for symbol {number}")
    symbol = symbols[number]
    item = shortened.get(symbol.shndx)
    if item is None or rela.addend <= 0:
        return rela
    base = symbol.value
    moved = item.moved(base + rela.addend) - item.moved(base)
    if moved != rela.addend and kind not in _ABSOLUTE:
        elf.source.fault(
            errors.UNSUPPORTED, 0, f"has a relocation of type {kind} into {item.section.name}"
        )
    return rela._replace(addend=moved)

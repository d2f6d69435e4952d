"""Cuts dead bytes out of linked ELF files: what is left keeps its virtual addresses.

The bytes of a dead range vanish from the file, and the loadable segment is split around them;
the addresses in between are simply not mapped. The bytes behind a cut move to the next offset
that agrees with their address modulo the page size, which is all that loaders ask for.

The program header table, which grows, moves into a dead range, where it is loaded with its
surroundings; it is wrapped as a container of its own, so that listings step over it. A
section that was split is described twice: by headers ``<name>.part`` that agree with the
addresses, and by one header of the old name that covers the parts in the file, because
cuobjdump reads just one section of that name. (Not ``.hip_fatbin``: LLVM reads all.)
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

from fatcrate.fatbin import constants as c
from fatcrate.fatbin import errors
from fatcrate.fatbin.elf import Elf, Section
from fatcrate.fatbin.source import CHUNK, Source
from fatcrate.fatbin.structs import (
    ELF_HEADER,
    ENTRY_HEADER,
    FATBIN_HEADER,
    PROGRAM_HEADER,
    SECTION_HEADER,
    EntryHeader,
    FatbinHeader,
    ProgramHeader,
    SectionHeader,
)
from fatcrate.toolchain import names

PT_PHDR: Final = 6
#: Pages of 64 KiB exist on aarch64; x86_64 has 4 KiB.
_PAGE: Final = {c.EM_X86_64: 0x1000, c.EM_AARCH64: 0x10000}
_ALIGN: Final = 8
_PART: Final = ".part"
_FILLER_SIZE: Final = FATBIN_HEADER.size + ENTRY_HEADER.size


@dataclass(frozen=True)
class Patch:
    """New bytes at a file offset of the original; parts are memory or (offset, size) of it."""

    offset: int
    parts: tuple[bytes | tuple[int, int], ...]

    @property
    def size(self) -> int:
        return sum(len(p) if isinstance(p, bytes) else p[1] for p in self.parts)


@dataclass(frozen=True)
class Dead:
    """A range of the original file that nothing needs any more."""

    start: int
    end: int


@dataclass(frozen=True)
class _Kept:
    """Original bytes [start, end) that go to ``to``."""

    start: int
    end: int
    to: int


class Layout:
    """Where each byte of the original goes. Offsets inside a cut map to its start."""

    def __init__(self, size: int, dead: Sequence[Dead], granule: int) -> None:
        self.kept: list[_Kept] = []
        start = to = 0
        for hole in dead:
            end = hole.start
            begin = hole.end
            at = to + end - start
            next_to = at + (begin - at) % granule
            if begin - start + to - next_to <= 0:
                continue  # nothing to gain
            self.kept.append(_Kept(start, end, to))
            start, to = begin, next_to
        self.kept.append(_Kept(start, size, to))
        self.size = to + size - start
        self._starts = [k.start for k in self.kept]

    def __call__(self, offset: int) -> int:
        piece = self.kept[max(bisect.bisect_right(self._starts, offset) - 1, 0)]
        return piece.to + min(offset, piece.end) - piece.start

    def pieces(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """(original start, new offset, size) of the parts of [start, end) that are kept."""
        for piece in self.kept:
            low, high = max(start, piece.start), min(end, piece.end)
            if low < high:
                yield low, piece.to + low - piece.start, high - low


def rewrite(
    elf: Elf,
    dead: Sequence[Dead],
    patches: Sequence[Patch],
    stream: BinaryIO,
) -> None:
    """Writes a linked file with ``patches`` applied and ``dead`` ranges cut where it pays.

    What of a dead range cannot be cut is filled with zeros. Raises FC0408 for a file whose
    form does not allow it.
    """
    granule = _PAGE.get(elf.machine)
    if granule is None:
        elf.source.fault(errors.UNSUPPORTED, 18, f"is for host machine {elf.machine}")
    layout, room = _with_room(elf, dead, granule)
    zeros = [
        Patch(low, (bytes(size),))
        for hole in dead
        for low, _, size in layout.pieces(hole.start, hole.end)
    ]
    cut = {
        section.number
        for section in elf.sections
        for hole in dead
        if _overlaps(section.header, hole)
    }
    _write(elf, layout, room, [*patches, *zeros], cut, granule, stream)


def _overlaps(head: SectionHeader, hole: Dead) -> bool:
    if head.type in (c.SHT_NULL, c.SHT_NOBITS):
        return False
    return head.offset < hole.end and hole.start < head.offset + head.size


def _with_room(elf: Elf, dead: Sequence[Dead], granule: int) -> tuple[Layout, Dead | None]:
    """A layout with room for the program headers at the start of one of the dead ranges.

    Returns the layout and that room; None: the table fits where it is.
    """
    first = Layout(elf.source.size, dead, granule)
    count = len(_segments(elf, first, granule))
    if count == len(elf.segments):
        return first, None
    need = _FILLER_SIZE + count * PROGRAM_HEADER.size
    for index, hole in enumerate(dead):
        start = (hole.start + _ALIGN - 1) // _ALIGN * _ALIGN
        if hole.end - start >= need + granule:
            rest = [*dead[:index], Dead(start + need, hole.end), *dead[index + 1 :]]
            layout = Layout(elf.source.size, rest, granule)
            if len(_segments(elf, layout, granule)) <= count:
                return layout, Dead(start, start + need)
    # No hole is large enough for the table: keep the file in one piece.
    return Layout(elf.source.size, [], granule), None


def _segments(elf: Elf, layout: Layout, granule: int) -> list[ProgramHeader]:
    """The program headers for a layout: loadable segments are split around cuts."""
    made: list[ProgramHeader] = []
    for segment in elf.segments:
        end = segment.offset + segment.filesz
        if segment.type != c.PT_LOAD or segment.filesz == 0:
            made.append(segment._replace(offset=layout(segment.offset)))
            continue
        pieces = list(layout.pieces(segment.offset, end))
        align = segment.align
        if align and any((at - start) % align for start, at, _ in pieces):
            align = granule
        for start, at, size in pieces:
            last = start + size == end
            address = segment.vaddr + start - segment.offset
            made.append(
                segment._replace(
                    offset=at,
                    vaddr=address,
                    paddr=segment.paddr + start - segment.offset,
                    filesz=size,
                    memsz=segment.memsz - (start - segment.offset) if last else size,
                    align=align,
                )
            )
    return made


class _Sections:
    """The section headers for a layout, and the table of their names.

    Parts behind a cut get headers at the end, so that section numbers stay.
    """

    def __init__(self, elf: Elf, layout: Layout, cut: set[int]) -> None:
        self._layout = layout
        self._cut = cut
        self.headers: list[SectionHeader] = []
        self._extra: list[SectionHeader] = []
        index = elf.header.shstrndx
        if not elf.sections or index >= len(elf.sections):
            elf.source.fault(errors.UNSUPPORTED, 0x3E, "has no section names")
        self.names = bytearray(elf.contents(elf.sections[index].header, "section names"))
        for section in elf.sections:
            self._add(section)
        self.headers += self._extra
        self.names_index = index

    def _add(self, section: Section) -> None:
        head = section.header
        if section.number not in self._cut:
            self.headers.append(head._replace(offset=self._layout(head.offset)))
            return
        pieces = list(self._layout.pieces(head.offset, head.offset + head.size))
        if len(pieces) < 2:
            _, at, size = pieces[0] if pieces else (0, self._layout(head.offset), 0)
            self.headers.append(head._replace(offset=at, size=size))
            return
        whole = pieces[-1][1] + pieces[-1][2] - pieces[0][1]
        view = head._replace(offset=pieces[0][1], size=whole)
        if not head.flags & c.SHF_ALLOC:
            self.headers.append(view)
            return
        # HIP's parts keep their name: llvm-objdump would find the bundles of a view again.
        first_time = not section.name.endswith(_PART) and section.name != names.HIP_FATBIN_SECTION
        name = head.name
        if first_time:
            name = len(self.names)
            self.names += (section.name + _PART).encode() + b"\0"
        for index, (start, at, size) in enumerate(pieces):
            part = head._replace(
                name=name,
                addr=head.addr + start - head.offset,
                offset=at,
                size=size,
                addralign=min(head.addralign, _ALIGN),
            )
            (self._extra if index else self.headers).append(part)
        if first_time:
            self._extra.append(view._replace(flags=0, addr=0, addralign=_ALIGN))


def _write(
    elf: Elf,
    layout: Layout,
    room: Dead | None,
    patches: Sequence[Patch],
    cut: set[int],
    granule: int,
    stream: BinaryIO,
) -> None:
    segments = _segments(elf, layout, granule)
    head = elf.header
    phoff, late = layout(head.phoff), []
    size = len(segments) * PROGRAM_HEADER.size
    if room is not None:
        table = room.start + _FILLER_SIZE
        phoff = layout(table)
        segments = [_moved_phdr(elf, s, table, phoff, size) for s in segments]
        late.append(Patch(room.start, (_filler(size),)))
    else:
        table = head.phoff
    # These come last, over the zeros of a dead range.
    late.append(Patch(table, (b"".join(PROGRAM_HEADER.write(s) for s in segments),)))
    made = _Sections(elf, layout, cut)
    if len(made.headers) >= c.SHN_LORESERVE:
        elf.source.fault(errors.UNSUPPORTED, 0, "would have too many sections")
    table_end = head.shoff + head.shnum * SECTION_HEADER.size
    tail = layout(head.shoff) if table_end >= elf.source.size - 64 else layout.size
    table_of_names = bytes(made.names)
    old = elf.sections[made.names_index].header
    if len(table_of_names) == old.size:
        table_of_names = b""  # they stay where they are
    else:
        if tail - 8 < layout(old.offset) + old.size <= tail:
            tail = layout(old.offset)  # at the end, as GNU ld places them
        made.headers[made.names_index] = made.headers[made.names_index]._replace(
            offset=tail, size=len(table_of_names)
        )
    shoff = (tail + len(table_of_names) + 7) // 8 * 8
    new_head = head._replace(phoff=phoff, phnum=len(segments), shoff=shoff, shnum=len(made.headers))
    late.append(Patch(0, (ELF_HEADER.write(new_head),)))
    copy(elf.source, layout, _overlay(patches, late), stream, tail)
    stream.write(table_of_names + bytes(shoff - tail - len(table_of_names)))
    stream.writelines(SECTION_HEADER.write(h) for h in made.headers)


def _filler(size: int) -> bytes:
    """The headers of a container with one entry of ``size`` bytes that no tool looks into."""
    entry = EntryHeader(
        c.KIND_FILLER, c.ENTRY_VERSION, ENTRY_HEADER.size, size, 0, 0, 0, 0, 75, 0, 0,
        c.FLAG_64BIT | c.FLAG_LINUX, 0, 0,
    )  # fmt: skip
    head = FatbinHeader(
        c.FATBIN_MAGIC, c.FATBIN_VERSION, FATBIN_HEADER.size, ENTRY_HEADER.size + size
    )
    return FATBIN_HEADER.write(head) + ENTRY_HEADER.write(entry)


def _moved_phdr(
    elf: Elf, segment: ProgramHeader, table: int, phoff: int, size: int
) -> ProgramHeader:
    """PT_PHDR, where there is one, follows the table to its new address."""
    if segment.type != PT_PHDR:
        return segment
    for old in elf.segments:
        if old.type == c.PT_LOAD and old.offset <= table < old.offset + old.filesz:
            address = old.vaddr + table - old.offset
            return segment._replace(
                offset=phoff, vaddr=address, paddr=address, filesz=size, memsz=size
            )
    return segment


def _overlay(patches: Sequence[Patch], late: Sequence[Patch]) -> list[Patch]:
    """``patches`` cut where a ``late`` one covers them, and the late ones."""
    made = list(late)
    for patch in patches:
        rest = [patch]
        for over in late:
            rest = [
                part for p in rest for part in _without(p, over.offset, over.offset + over.size)
            ]
        made.extend(rest)
    return made


def _without(patch: Patch, start: int, end: int) -> list[Patch]:
    """The parts of a patch outside of [start, end); only patches of memory are ever cut."""
    low, high = patch.offset, patch.offset + patch.size
    if high <= start or low >= end:
        return [patch]
    data = b"".join(p for p in patch.parts if isinstance(p, bytes))
    made = [Patch(low, (data[: start - low],))] if low < start else []
    return [*made, Patch(end, (data[end - low :],))] if high > end else made


def copy(
    source: Source, layout: Layout, patches: Sequence[Patch], stream: BinaryIO, limit: int
) -> int:
    """Writes the kept bytes with patches laid over them, up to ``limit``; returns the size."""
    ordered = sorted(patches, key=lambda p: p.offset)
    position = 0
    for piece in layout.kept:
        if piece.to >= limit:
            break
        stream.write(bytes(piece.to - position))
        position = piece.to
        end = min(piece.end, piece.start + limit - piece.to)
        for data in _patched(source, piece.start, end, ordered):
            stream.write(data)
            position += len(data)
    return position


def _patched(
    source: Source, start: int, end: int, patches: Sequence[Patch]
) -> Iterator[bytes | memoryview]:
    at = start
    for patch in patches:
        if patch.offset + patch.size <= at or patch.offset >= end:
            continue
        yield from _raw(source, at, patch.offset)
        position = patch.offset
        for part in patch.parts:
            size = len(part) if isinstance(part, bytes) else part[1]
            keep = min(size, end - position)
            if keep > 0:
                if isinstance(part, bytes):
                    yield part[:keep]
                else:
                    yield from _raw(source, part[0], part[0] + keep)
            position += size
        at = min(position, end)
    yield from _raw(source, at, end)


def _raw(source: Source, start: int, end: int) -> Iterator[bytes | memoryview]:
    for offset in range(start, end, CHUNK):
        yield source.read(offset, min(CHUNK, end - offset), "the file")

"""Writes a file again with its containers edited: containers, objects, libraries, archives,
wheels."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, cast

from fatcrate.fatbin import archive, elf_edit, elf_shorten, errors, hip, hostfile, reader, wheel
from fatcrate.fatbin import constants as c
from fatcrate.fatbin.edit import Edited, Editor, Part
from fatcrate.fatbin.elf import Elf, Section
from fatcrate.fatbin.elf_edit import Dead, Patch
from fatcrate.fatbin.elf_shorten import Move, Shortened
from fatcrate.fatbin.model import Fatbin
from fatcrate.fatbin.source import Source


@dataclass
class Summary:
    """What a rewrite did. ``empty`` names containers that lost their last image; ``notes``
    tell of device code that is elsewhere."""

    kept: int = 0
    removed: int = 0
    kept_bytes: int = 0
    removed_bytes: int = 0
    old_size: int = 0
    new_size: int = 0
    empty: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, edited: Edited) -> None:
        """Counts one container."""
        self.kept += len(edited.kept)
        self.removed += len(edited.removed)
        self.kept_bytes += sum(i.stored_size for i in edited.kept)
        self.removed_bytes += sum(i.stored_size for i in edited.removed)
        if edited.removed and not [i for i in edited.kept if i.kind != "host"]:
            where = edited.fatbin.source.location(edited.fatbin.offset)
            self.empty.append(str(where))


def rewrite(source: Source, editor: Editor, stream: BinaryIO, summary: Summary) -> None:
    """Writes ``source`` with every container edited. Raises FC0400 for other files."""
    if wheel.is_wheel(source):
        wheel.rewrite(source, lambda s, out: _member(s, editor, out, summary), stream)
        if others := wheel.foreign(source):
            summary.notes.append(hostfile.unread(others))
    elif archive.is_archive(source):
        _archive(source, editor, stream, summary)
    elif source.starts_with(c.ELF_MAGIC):
        _elf(source, editor, stream, summary)
    elif reader.is_fatbin(source) or hip.is_bundle(source):
        found = reader.read_all(source) if reader.is_fatbin(source) else hip.read_all(source)
        for fatbin in found:
            edited = editor(fatbin)
            summary.add(edited)
            _write_parts(source, edited.parts, stream)
    else:
        hostfile.module(source)  # raises for unknown files
        source.fault(errors.UNSUPPORTED, 0, "is a single image, not a container")


def _member(source: Source, editor: Editor, stream: BinaryIO, summary: Summary) -> None:
    """A member of an archive or wheel. One that is a single image is no container: it stays."""
    if source.starts_with(c.ELF_MAGIC):
        if hostfile.is_other_elf(source) or Elf(source).machine in (c.EM_CUDA, c.EM_AMDGPU):
            stream.writelines(source.chunks())
        else:
            _elf(source, editor, stream, summary)
    else:
        rewrite(source, editor, stream, summary)


def _write_parts(source: Source, parts: list[Part], stream: BinaryIO) -> None:
    for part in parts:
        if isinstance(part, bytes):
            stream.write(part)
        else:
            stream.writelines(source.window(*part, "an entry").chunks())


def _archive(source: Source, editor: Editor, stream: BinaryIO, summary: Summary) -> None:
    """Edited members wait in one temporary file: there may be thousands."""
    others: list[str] = []
    with scratch_file() as scratch:

        def edit(member: Source) -> Source:
            if not member.starts_with(c.ELF_MAGIC):
                if what := hostfile.foreign(member):
                    others.append(f"{member.name} is {what}")
                return member
            start = scratch.tell()
            _member(member, editor, scratch, summary)
            whole = scratch_source(scratch, member.name)
            return whole.window(start, whole.size - start, "a member")

        archive.rewrite(source, edit, stream)
    if others:
        summary.notes.append(hostfile.unread(others))


@contextlib.contextmanager
def scratch_file() -> Iterator[BinaryIO]:
    """A temporary file without a name."""
    with tempfile.TemporaryFile(prefix="fatcrate-") as stream:
        yield cast(BinaryIO, stream)


def scratch_source(stream: BinaryIO, name: str) -> Source:
    """What was written to a temporary file, as a source."""
    stream.flush()
    return Source(name, fd=stream.fileno(), size=stream.seek(0, 2))


def _elf(source: Source, editor: Editor, stream: BinaryIO, summary: Summary) -> None:
    elf = Elf(source)
    if elf.machine in (c.EM_CUDA, c.EM_AMDGPU):
        source.fault(errors.UNSUPPORTED, 18, "is a single image, not a container")
    linked = elf.header.type != c.ET_REL
    dead: list[Dead] = []
    patches: list[Patch] = []
    shortened: list[Shortened] = []
    found_any = False
    for section in hostfile.device_sections(elf):
        found = hostfile.containers(source, section, fillers=True)
        edited = [_unchanged(f) if reader.is_filler(f) else _checked(editor(f)) for f in found]
        for item in edited:
            if not reader.is_filler(item.fatbin):
                summary.add(item)
        found_any = True
        if linked:
            _plan_linked(section, edited, patches, dead)
        else:
            shortened.append(_plan_object(section, edited))
    summary.notes += hostfile.notes(elf)
    if not found_any:
        stream.writelines(source.chunks())
    elif linked:
        dead.sort(key=lambda d: d.start)
        elf_edit.rewrite(elf, dead, patches, stream)
    else:
        elf_shorten.rewrite_object(elf, shortened, stream)


def _unchanged(fatbin: Fatbin) -> Edited:
    return Edited(fatbin, [(fatbin.offset, fatbin.size)], fatbin.images)


def _checked(edited: Edited) -> Edited:
    """Refuses a container that would not fit into its old place."""
    fatbin = edited.fatbin
    if edited.size > fatbin.size:
        fatbin.source.fault(
            errors.UNSUPPORTED,
            fatbin.offset,
            f"has no room: the container would grow from {fatbin.size} to {edited.size} bytes",
            "choose a mode that compresses more, or rebuild the file",
        )
    return edited


def _absolute(part: Part, base: int) -> Part:
    return part if isinstance(part, bytes) else (part[0] + base, part[1])


def _plan_linked(
    section: Section, edited: list[Edited], patches: list[Patch], dead: list[Dead]
) -> None:
    """Each container stays at its address; what it no longer needs is dead."""
    base = section.header.offset
    ends = [e.fatbin.offset for e in edited[1:]] + [section.header.size]
    for item, end in zip(edited, ends, strict=True):
        start = base + item.fatbin.offset
        parts = tuple(_absolute(p, base) for p in item.parts)
        rest = min((item.size + 7) // 8 * 8, end - item.fatbin.offset)
        if item.size < item.fatbin.size:
            parts += (bytes(rest - item.size),)
            dead.append(Dead(start + rest, base + end))
        patches.append(Patch(start, parts))


def _plan_object(section: Section, edited: list[Edited]) -> Shortened:
    """The containers move together, each aligned as it was."""
    base = section.header.offset
    align = max(section.header.addralign, 8)
    parts: list[Part] = []
    moves: list[Move] = []
    at = 0
    for item in edited:
        start = (at + align - 1) // align * align if at else 0
        parts.append(bytes(start - at))
        parts.extend(_absolute(p, base) for p in item.parts)
        moves.append(Move(item.fatbin.offset, item.fatbin.size, start, item.size))
        at = start + item.size
    return Shortened(section, tuple(moves), tuple(parts))

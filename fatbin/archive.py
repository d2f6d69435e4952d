"""Reads and rewrites ``ar`` archives: System V, BSD and thin ones.

Source: the ``ar(5)`` layout: an 8-byte magic, then members of a 60-byte text header and the
data, each padded to an even offset. BSD long names stand before the data ("#1/length").
A thin archive (GNU binutils) names files, relative to its folder, instead of holding them.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from fatcrate.fatbin import errors
from fatcrate.fatbin.source import Source, named_file

MAGIC = b"!<arch>\n"
THIN_MAGIC = b"!<thin>\n"
HEADER_SIZE = 60
_GNU_TABLES = ("/", "//", "/SYM64/")
_BSD_TABLES = ("__.SYMDEF", "__.SYMDEF SORTED", "__.SYMDEF_64", "__.SYMDEF_64 SORTED")


class Member(NamedTuple):
    """One member: its header, where its data is, and the bytes of a BSD name before that.

    ``stored`` is false for what a thin archive only names.
    """

    name: str
    at: int
    start: int
    size: int
    name_bytes: int = 0
    stored: bool = True

    @property
    def special(self) -> bool:
        """Whether it is a table of symbols or names."""
        return self.name in _GNU_TABLES or self.name in _BSD_TABLES


def is_archive(source: Source) -> bool:
    """Whether the file starts like an archive, thin ones included."""
    return source.starts_with(MAGIC) or source.starts_with(THIN_MAGIC)


def members(source: Source) -> Iterator[Source]:
    """Each member's data, called ``libx.a(member.o)``; symbol and name tables left out."""
    for member in entries(source):
        if not member.special:
            yield _contents(source, member)


def _contents(source: Source, member: Member) -> Source:
    title = f"{source.name}({member.name})"
    if member.stored:
        return source.window(member.start, member.size, f"member {member.name}", title)
    if not source.path:
        source.fault(
            errors.UNSUPPORTED,
            0,
            "is a thin archive inside of another file; the files that it names are not there",
        )
    path = os.path.join(os.path.dirname(source.path), member.name)
    try:
        return named_file(path, title)
    except OSError as error:
        source.fault(
            errors.BAD_ARCHIVE,
            member.at,
            f"is a thin archive, and its member {member.name} cannot be read: {error.strerror}",
            "keep the objects where they were, or make a plain archive with `ar rcs`",
        )


def entries(source: Source) -> Iterator[Member]:
    """The members, the special ones included. Raises FC0410 for a damaged header."""
    thin = source.starts_with(THIN_MAGIC)
    long_names = b""
    at = len(MAGIC)
    while at < source.size:
        head = bytes(source.read(at, HEADER_SIZE, "archive member header"))
        if head[58:60] != b"`\n":
            source.fault(errors.BAD_ARCHIVE, at, "has a damaged member header")
        digits = head[48:58].strip()
        if not digits.isdigit():
            source.fault(errors.BAD_ARCHIVE, at + 48, "has a member without a size")
        size, start, before = int(digits), at + HEADER_SIZE, 0
        name = head[:16].decode("latin-1").rstrip()
        stored = not thin or name in _GNU_TABLES
        if stored:
            source.check(start, size, "an archive member")
        if name == "//":
            long_names = bytes(source.read(start, size, "archive name table"))
        elif name.startswith("/") and name[1:].isdigit():
            name = _long_name(source, long_names, int(name[1:]), at)
        elif name.startswith("/") and name not in _GNU_TABLES and thin:
            source.fault(
                errors.UNSUPPORTED, at, "is a thin archive of archives; give those themselves"
            )
        elif name.startswith("#1/") and name[3:].isdigit() and stored:
            before = min(int(name[3:]), size)
            raw = bytes(source.read(start, before, "archive member name"))
            name = raw.rstrip(b"\0").decode("utf-8", "backslashreplace")
        elif name not in _GNU_TABLES:
            name = name.removesuffix("/")
        yield Member(name, at, start + before, size - before, before, stored)
        at = start + (size + size % 2 if stored else 0)


def rewrite(source: Source, edit: Callable[[Source], Source], stream: BinaryIO) -> None:
    """Writes the archive with its members edited and its symbol table pointing right.

    ``edit`` gives the new contents of a member; the headers keep name, time and owner. A
    thin archive becomes a plain one.
    """
    everything = list(entries(source))
    parts = [_contents(source, m) for m in everything]
    parts = [p if m.special else edit(p) for m, p in zip(everything, parts, strict=True)]
    names = _names(source, everything)
    moved: dict[int, int] = {}
    at = len(MAGIC)
    for member, part in zip(everything, parts, strict=True):
        if member.name == "//" and names is not None:
            part = Source(part.name, data=names.table)
        moved[member.at] = at
        size = member.name_bytes + part.size
        at += HEADER_SIZE + size + size % 2
    stream.write(MAGIC)
    for member, part in zip(everything, parts, strict=True):
        _write(source, member, part, names, moved, stream)


class _Names(NamedTuple):
    """Names of a thin archive's members without folders: header fields, and their table."""

    fields: dict[int, bytes]
    table: bytes


def _names(source: Source, everything: list[Member]) -> _Names | None:
    """The names for a plain archive when the old one is thin."""
    if not source.starts_with(THIN_MAGIC):
        return None
    fields: dict[int, bytes] = {}
    table = b""
    for member in everything:
        name = os.path.basename(member.name).encode("utf-8", "surrogateescape")
        if member.special:
            continue
        if len(name) < 16:
            fields[member.at] = (name + b"/").ljust(16)
        else:
            fields[member.at] = b"/%-15d" % len(table)
            table += name + b"/\n"
    return _Names(fields, table + b"\n" * (len(table) % 2))


def _write(
    source: Source,
    member: Member,
    part: Source,
    names: _Names | None,
    moved: dict[int, int],
    stream: BinaryIO,
) -> None:
    """One member at its new place."""
    head = bytes(source.read(member.at, HEADER_SIZE, "archive member header"))
    if names is not None:
        head = names.fields.get(member.at, head[:16]) + head[16:]
        if member.name == "//":
            part = Source(part.name, data=names.table)
    size = member.name_bytes + part.size
    stream.write(head[:48] + str(size).encode().ljust(10) + head[58:])
    stream.write(source.read(member.start - member.name_bytes, member.name_bytes, "a name"))
    if member.special and member.name != "//":
        stream.write(_symbol_table(source, bytes(part.all()), member.name, moved))
    else:
        stream.writelines(part.chunks())
    stream.write(b"\n" * (size % 2))


def _symbol_table(source: Source, data: bytes, name: str, moved: dict[int, int]) -> bytes:
    """The symbol table with new offsets of members.

    System V: a big-endian count, offsets, names. BSD: the size in bytes of pairs (name,
    offset), the pairs, and the names.
    """
    wide = "64" in name
    gnu = name in _GNU_TABLES
    code, width = (">Q" if gnu else "<Q", 8) if wide else (">I" if gnu else "<I", 4)
    if len(data) < width:
        return data
    (count,) = struct.unpack_from(code, data)
    if not gnu:
        count = count // width  # of the words of all pairs
    if count > (len(data) - width) // width:
        source.fault(errors.BAD_ARCHIVE, len(MAGIC), "has a damaged symbol table")
    words = list(struct.unpack_from(f"{code[0]}{count}{code[1]}", data, width))
    for index in range(0 if gnu else 1, count, 1 if gnu else 2):
        if words[index] not in moved:
            source.fault(errors.BAD_ARCHIVE, len(MAGIC), "has a symbol table that points nowhere")
        words[index] = moved[words[index]]
    new = struct.pack(f"{code[0]}{count}{code[1]}", *words)
    return data[:width] + new + data[width + len(new) :]


def _long_name(source: Source, table: bytes, offset: int, at: int) -> str:
    end = table.find(b"\n", offset)
    if offset >= len(table) or end < 0:
        source.fault(errors.BAD_ARCHIVE, at, f"names a member at {offset} of its name table")
    return table[offset:end].decode("utf-8", "surrogateescape").removesuffix("/")

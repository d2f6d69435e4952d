"""Reads ``ar`` archives (System V and BSD long names).

Source: the ``ar(5)`` layout: an 8-byte magic, then members of a 60-byte text header and the
data, each padded to an even offset.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import BinaryIO

from fatcrate.fatbin import errors
from fatcrate.fatbin.source import Source

MAGIC = b"!<arch>\n"
THIN_MAGIC = b"!<thin>\n"
HEADER_SIZE = 60


def is_archive(source: Source) -> bool:
    """Whether the file starts like an archive, thin ones included."""
    return source.starts_with(MAGIC) or source.starts_with(THIN_MAGIC)


def members(source: Source) -> Iterator[Source]:
    """Each member's data, called ``libx.a(member.o)``; symbol and name tables left out."""
    for name, offset, size in entries(source):
        if name not in ("/", "//", "/SYM64/") and not name.startswith("__.SYMDEF"):
            yield source.window(offset, size, f"member {name}", f"{source.name}({name})")


def entries(source: Source) -> Iterator[tuple[str, int, int]]:
    """Name, data offset and size of each member, the special ones included.

    Raises FC0410 for a damaged header and FC0408 for a thin archive.
    """
    if source.starts_with(THIN_MAGIC):
        source.fault(
            errors.UNSUPPORTED,
            0,
            "is a thin archive, which only names its members",
            "give the member files, or make a plain archive with `ar rcs`",
        )
    long_names = b""
    at = len(MAGIC)
    while at < source.size:
        head = bytes(source.read(at, HEADER_SIZE, "archive member header"))
        if head[58:60] != b"`\n":
            source.fault(errors.BAD_ARCHIVE, at, "has a damaged member header")
        digits = head[48:58].strip()
        if not digits.isdigit():
            source.fault(errors.BAD_ARCHIVE, at + 48, "has a member without a size")
        size, start = int(digits), at + HEADER_SIZE
        source.check(start, size, "an archive member")
        name = head[:16].decode("latin-1").rstrip()
        if name == "//":
            long_names = bytes(source.read(start, size, "archive name table"))
        elif name.startswith("/") and name[1:].isdigit():
            name = _long_name(source, long_names, int(name[1:]), at)
        elif name.startswith("#1/") and name[3:].isdigit():
            length = min(int(name[3:]), size)
            raw = bytes(source.read(start, length, "archive member name"))
            name = raw.rstrip(b"\0").decode("utf-8", "backslashreplace")
            yield name, start + length, size - length
            at = start + size + size % 2
            continue
        elif name not in ("/", "/SYM64/"):
            name = name.removesuffix("/")
        yield name, start, size
        at = start + size + size % 2


def rewrite(source: Source, edit: Callable[[Source], Source], stream: BinaryIO) -> None:
    """Writes the archive with its members edited and its symbol table pointing right.

    ``edit`` gives the new contents of a member; the headers keep name, time and owner.
    """
    everything = list(entries(source))
    names = {"/", "//", "/SYM64/"}
    made: list[tuple[int, Source]] = []  # old header offset, contents
    for name, offset, size in everything:
        part = source.window(offset, size, f"member {name}", f"{source.name}({name})")
        special = name in names or name.startswith("__.SYMDEF")
        made.append((offset - HEADER_SIZE, part if special else edit(part)))
    if any(_is_bsd(source, at) for at, _ in made):
        source.fault(errors.UNSUPPORTED, 0, "is an archive with BSD names; they are only read")
    moved: dict[int, int] = {}
    at = len(MAGIC)
    for old, part in made:
        moved[old] = at
        at += HEADER_SIZE + part.size + part.size % 2
    stream.write(MAGIC)
    for (old, part), (name, _, _) in zip(made, everything, strict=True):
        head = bytes(source.read(old, HEADER_SIZE, "archive member header"))
        stream.write(head[:48] + str(part.size).encode().ljust(10) + head[58:])
        if name in ("/", "/SYM64/"):
            stream.write(_symbol_table(source, bytes(part.all()), name, moved))
        else:
            stream.writelines(part.chunks())
        stream.write(b"\n" * (part.size % 2))


def _is_bsd(source: Source, at: int) -> bool:
    return bytes(source.read(at, 3, "archive member header")) == b"#1/"


def _symbol_table(source: Source, data: bytes, name: str, moved: dict[int, int]) -> bytes:
    """The symbol table (big-endian count, member offsets, names) with new offsets."""
    code, width = ("Q", 8) if name == "/SYM64/" else ("I", 4)
    if len(data) < width:
        return data
    (count,) = struct.unpack_from(">" + code, data)
    if count > (len(data) - width) // width:
        source.fault(errors.BAD_ARCHIVE, len(MAGIC), "has a damaged symbol table")
    old = struct.unpack_from(f">{count}{code}", data, width)
    if any(offset not in moved for offset in old):
        source.fault(errors.BAD_ARCHIVE, len(MAGIC), "has a symbol table that points nowhere")
    new = struct.pack(f">{count}{code}", *(moved[offset] for offset in old))
    return data[:width] + new + data[width + len(new) :]


def _long_name(source: Source, table: bytes, offset: int, at: int) -> str:
    end = table.find(b"\n", offset)
    if offset >= len(table) or end < 0:
        source.fault(errors.BAD_ARCHIVE, at, f"names a member at {offset} of its name table")
    return table[offset:end].decode("utf-8", "backslashreplace").removesuffix("/")

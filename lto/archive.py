"""Reads `ar` archives: GNU, BSD and thin ones. No LLVM, no copies of member data.

Format (System V ABI, "Archive File"; GNU and BSD variants as in binutils' ``ar.h``): the
magic, then members with a 60-byte text header ``name[16] date[12] uid[6] gid[6] mode[8]
size[10] "`\\n"``, data padded to an even offset. GNU keeps long names in a member ``//`` and
refers to them as ``/offset``; BSD writes ``#1/length`` and puts the name before the data. A
thin archive stores paths, relative to its own folder, in place of the data.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fatcrate.lto import errors
from fatcrate.toolchain.diagnostics import Location, fail

MAGIC = b"!<arch>\n"
THIN_MAGIC = b"!<thin>\n"
_HEADER = 60
_SYMBOL_TABLES = ("/", "/SYM64/", "__.SYMDEF", "__.SYMDEF SORTED", "__.SYMDEF_64")


class Member(NamedTuple):
    """One file of an archive. ``data`` is empty and ``path`` set in a thin archive."""

    name: str
    data: memoryview
    path: str = ""


def is_archive(data: bytes | memoryview) -> bool:
    """Whether the bytes begin like an archive."""
    return bytes(data[:8]) in (MAGIC, THIN_MAGIC)


def _bad(file: str, offset: int, message: str) -> None:
    fail(
        errors.BAD_ARCHIVE,
        file,
        message,
        remedy="build the crate again",
        location=Location(file, offset=offset),
    )


def members(data: memoryview, file: str) -> Iterator[Member]:
    """The members in order, symbol and name tables left out.

    ``file`` is the archive's path, for messages and for thin members. Raises FC0301.
    """
    thin = bytes(data[:8]) == THIN_MAGIC
    long_names = b""
    offset = len(MAGIC)
    while offset < len(data):
        header = bytes(data[offset : offset + _HEADER])
        if len(header) < _HEADER:
            _bad(file, offset, "ends in the middle of a member header")
        if header[58:] != b"`\n":
            _bad(file, offset, "has no member header where one must be")
        digits = header[48:58].rstrip(b" ")
        if not digits.isdigit():
            _bad(file, offset + 48, "has a member whose size is not a number")
        size = int(digits)
        raw = header[:16].rstrip(b" ").decode("utf-8", "replace")
        start = offset + _HEADER
        in_place = not thin or raw == "//" or raw in _SYMBOL_TABLES
        if in_place and start + size > len(data):
            _bad(file, offset + 48, f"has a member of {size} bytes that goes past its end")
        body = data[start : start + size] if in_place else data[:0]
        offset = start + (size + (size & 1) if in_place else 0)
        if raw == "//":
            long_names = bytes(body)
            continue
        if raw in _SYMBOL_TABLES:
            continue
        name, body = _name(raw, body, long_names, file, start)
        if name in _SYMBOL_TABLES:
            continue
        path = os.path.join(os.path.dirname(file), name) if thin else ""
        yield Member(name, body, path)


def _name(
    raw: str, body: memoryview, long_names: bytes, file: str, start: int
) -> tuple[str, memoryview]:
    """Resolves GNU and BSD long names; returns the name and the data without it."""
    if raw.startswith("#1/") and raw[3:].isdigit():
        length = int(raw[3:])
        if length > len(body):
            _bad(file, start, "has a member whose name is longer than its data")
        return bytes(body[:length]).rstrip(b"\0").decode("utf-8", "replace"), body[length:]
    if raw.startswith("/") and raw[1:].isdigit():
        begin = int(raw[1:])
        if begin >= len(long_names):
            _bad(file, start - _HEADER, "refers to a long name that is not in its name table")
        end = long_names.find(b"\n", begin)
        text = long_names[begin : end if end >= 0 else len(long_names)]
        return text.decode("utf-8", "replace").removesuffix("/"), body
    return raw.removesuffix("/"), body


def write(members: Iterable[tuple[str, bytes]]) -> bytes:
    """A GNU archive of (name, data), with times and owners zero and no symbol table."""
    names, body = b"", b""
    for name, data in members:
        label = b"/%d" % len(names)
        names += name.encode("utf-8") + b"/\n"
        body += _member(label, data)
    return MAGIC + _member(b"//", names) + body


def _member(label: bytes, data: bytes) -> bytes:
    header = b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (label, 0, 0, 0, 0o644, len(data))
    return header + data + b"\n" * (len(data) & 1)

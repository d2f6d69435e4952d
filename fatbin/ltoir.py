"""The target that an LTO-IR file was made for.

The format is not documented. What was measured with libNVVM 13 (``-gen-lto``): behind a
header of 0x18 bytes stands a table of {u16 tag, u16 value} that ends where the word at 0x10
says. Tag 1 holds ten times the SM number, tag 0x20 marks an architecture-specific target;
a family's target looks like the plain one.
"""

from __future__ import annotations

import struct
from typing import Final

from fatcrate.fatbin import constants as c
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.arch import Arch

_HEADER: Final = struct.Struct("<4s2BHIHHI")  # up to the end of the table at 0x10
_TABLE: Final = 0x18
_TAG_SM: Final = 1
_TAG_SPECIFIC: Final = 0x20
_TABLE_LIMIT: Final = 1024


def target(source: Source) -> Arch | None:
    """The arch in the file's header, ``f`` left out; None where the form is another one."""
    if source.size < _TABLE:
        return None
    head = _HEADER.unpack(source.read(0, _HEADER.size, "LTO-IR header"))
    magic, major, minor, _, _, size, _, end = head
    if (magic, major, minor, size) != (c.LTOIR_MAGIC, 1, 0x43, _TABLE):
        return None
    if not _TABLE <= end <= min(source.size, _TABLE_LIMIT) or end % 4:
        return None
    table = dict(struct.iter_unpack("<HH", source.read(_TABLE, end - _TABLE, "LTO-IR table")))
    number, rest = divmod(table.get(_TAG_SM, 0), 10)
    if rest or not 10 <= number < 1000:
        return None
    return Arch("compute", number, "a" if table.get(_TAG_SPECIFIC) else "")

"""Bytes to be read: a file, a window of one, or memory; every read is checked.

Files are read with ``pread``, so a 3 GB library costs only the parts that are asked for, and
a file that shrinks meanwhile gives an error instead of a bus fault.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from fatcrate.fatbin import errors
from fatcrate.toolchain.diagnostics import Kind, Location, fail

CHUNK = 1 << 20
#: Zeros between containers: linkers pad to a page, and what ``strip`` could not cut is zero.
ZEROS_LIMIT = 16 << 20
PIPE_LIMIT = 1 << 30
#: What is read in one piece at most: an image. (Files and sections go in pieces.)
READ_LIMIT = 4 << 30


class Source:
    """``size`` bytes called ``name`` (for messages). Offsets are relative to the window."""

    def __init__(
        self, name: str, *, data: bytes | memoryview | None = None, fd: int = -1, size: int = 0
    ) -> None:
        self.name = name
        self._data = None if data is None else memoryview(data).cast("B")
        self._fd = fd
        self._start = 0
        self._origin = 0  # what offsets in messages count from
        self.path = ""  # where a file is that was opened, for names relative to it
        self._reopened = ""
        self.size = len(self._data) if self._data is not None else size

    def window(self, offset: int, size: int, what: str, name: str = "") -> Source:
        """A part of this source; raises FC0401 when it reaches behind the end.

        Messages count offsets from the start of the file, unless the part gets a ``name``
        of its own (the member of an archive).
        """
        self.check(offset, size, what)
        part = Source.__new__(Source)
        part.path = ""
        part.name = name or self.name
        part._data = None if self._data is None else self._data[offset : offset + size]
        part._fd = self._fd
        part._start = self._start + offset
        part._origin = part._start if name else self._origin
        part._reopened = self._reopened
        part.size = size
        return part

    def check(self, offset: int, size: int, what: str) -> None:
        """Raises FC0401 unless ``size`` bytes lie at ``offset``."""
        if offset < 0 or size < 0 or offset > self.size or size > self.size - offset:
            fail(
                errors.TRUNCATED,
                self.name,
                f"{what} needs {size} bytes at offset {offset:#x},"
                f" but the data ends at {self.size:#x}",
                location=self.location(min(max(offset, 0), self.size)),
                remedy="copy or build the file again",
            )

    def read(self, offset: int, size: int, what: str) -> bytes | memoryview:
        """``size`` bytes at ``offset``; raises FC0401, naming ``what``, when there are fewer,
        and FC0404 for more than one image may have."""
        self.check(offset, size, what)
        if self._data is not None:
            return self._data[offset : offset + size]
        if size > READ_LIMIT:
            self.fault(errors.TOO_LARGE, offset, f"is too large: {what} has {size} bytes")
        if not self._reopened:
            return self._from_file(self._fd, offset, size, what)
        fd = _open_regular(self._reopened)
        try:
            return self._from_file(fd, offset, size, what)
        finally:
            os.close(fd)

    def _from_file(self, fd: int, offset: int, size: int, what: str) -> bytes:
        data = os.pread(fd, size, self._start + offset)
        if len(data) == size:
            return data
        parts = [data]
        done = len(data)
        while done < size:  # one pread gives at most 2 GiB
            more = os.pread(fd, size - done, self._start + offset + done)
            if not more:
                fail(errors.TRUNCATED, self.name, f"shrank while {what} was read")
            parts.append(more)
            done += len(more)
        return b"".join(parts)

    def all(self, what: str = "the file") -> bytes | memoryview:
        """Everything."""
        return self.read(0, self.size, what)

    def chunks(self, what: str = "the file") -> Iterator[bytes | memoryview]:
        """Everything, in pieces of at most :data:`CHUNK` bytes."""
        for offset in range(0, self.size, CHUNK):
            yield self.read(offset, min(CHUNK, self.size - offset), what)

    def starts_with(self, magic: bytes) -> bool:
        return self.size >= len(magic) and bytes(self.read(0, len(magic), "magic")) == magic

    def skip_zeros(self, offset: int, limit: int = ZEROS_LIMIT) -> int:
        """The offset of the first byte from ``offset`` on that is not zero, or the size.

        Raises FC0402 when more than ``limit`` zeros do not reach the end.
        """
        at = offset
        while at < self.size:
            if at - offset > limit:
                self.fault(errors.MALFORMED, offset, "has a long run of zeros, no container")
            data = bytes(self.read(at, min(1 << 16, self.size - at), "padding"))
            if rest := data.lstrip(b"\0"):
                return at + len(data) - len(rest)
            at += len(data)
        return self.size

    def location(self, offset: int) -> Location:
        """``offset`` of this window as a place in the file or member."""
        return Location(self.name, offset=self._start - self._origin + offset)

    def fault(self, kind: Kind, offset: int, message: str, remedy: str = "") -> NoReturn:
        """Raises ``kind`` at ``offset``."""
        fail(kind, self.name, message, location=self.location(offset), remedy=remedy)


def named_file(path: str, name: str) -> Source:
    """A regular file that is opened anew for each read: there may be more of them than a
    process may hold open. Raises ``OSError``, and FC0400 for anything but a regular file."""
    fd = _open_regular(path)
    try:
        made = Source(name, size=os.fstat(fd).st_size)
    finally:
        os.close(fd)
    made._reopened = path
    return made


def _open_regular(path: str) -> int:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # waits for no writer
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        fail(errors.NOT_RECOGNISED, path, "is no regular file")
    return fd


@contextmanager
def open_source(path: str | os.PathLike[str]) -> Iterator[Source]:
    """Opens a file for reading; a pipe or device is read into memory. Raises ``OSError``,
    FC0400 for folders, FC0404 for what does not end."""
    name = os.fspath(path)
    fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
    try:
        status = os.fstat(fd)
        if stat.S_ISREG(status.st_mode):
            made = Source(name, fd=fd, size=status.st_size)
            made.path = name
            yield made
        elif stat.S_ISDIR(status.st_mode):
            fail(errors.NOT_RECOGNISED, name, "is a directory", remedy="name a file in it")
        else:
            with os.fdopen(os.dup(fd), "rb") as stream:
                data = stream.read(PIPE_LIMIT + 1)
            if len(data) > PIPE_LIMIT:
                fail(
                    errors.TOO_LARGE,
                    name,
                    f"is no file, and gives more than {PIPE_LIMIT} bytes",
                    remedy="write it to a file first",
                )
            yield Source(name, data=data)
    finally:
        os.close(fd)

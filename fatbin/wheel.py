"""Wheels: reads the libraries in them, and writes them again with a right RECORD.

Source: the binary distribution format (PEP 427) and the recording of installed files
(PEP 376): ``*.dist-info/RECORD`` lists path, ``sha256=`` and size of each file.
"""

from __future__ import annotations

import base64
import contextlib
import csv
import hashlib
import io
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from typing import IO, BinaryIO, Final, cast

from fatcrate.fatbin import errors
from fatcrate.fatbin.source import CHUNK, Source
from fatcrate.toolchain.diagnostics import fail

_MAGIC: Final = b"PK\x03\x04"
_DEVICE_MAGICS: Final = (
    b"\x7fELF",
    b"!<arch>\n",
    b"\x50\xed\x55\xba",
    b"CCOB",
    b"__CLANG_OFFLOAD_BUNDLE__",
)
_FOREIGN_ENDS: Final = (".dll", ".pyd", ".exe", ".dylib", ".lib")
_DEFLATE_RATIO: Final = 1032
_SIGNATURES: Final = (".dist-info/RECORD.jws", ".dist-info/RECORD.p7s")


def is_wheel(source: Source) -> bool:
    """Whether the file is a ZIP archive, as wheels are."""
    return source.starts_with(_MAGIC)


class _Stream(io.RawIOBase):
    """A source as a seekable stream."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        base = {0: 0, 1: self._at, 2: self._source.size}[whence]
        self._at = max(base + offset, 0)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        size = max(min(len(view), self._source.size - self._at), 0)
        view[:size] = self._source.read(self._at, size, "the wheel")
        self._at += size
        return size


@contextlib.contextmanager
def _opened(source: Source) -> Iterator[zipfile.ZipFile]:
    """The ZIP archive; every way in which it can be damaged becomes FC0410."""
    try:
        with zipfile.ZipFile(io.BufferedReader(_Stream(source), CHUNK)) as made:
            yield made
    except (zipfile.BadZipFile, NotImplementedError, EOFError, ValueError) as error:
        fail(errors.BAD_ARCHIVE, source.name, f"is a damaged wheel: {error}")
    except Exception as error:
        if type(error).__module__ == "zlib" or isinstance(error, RuntimeError):
            fail(errors.BAD_ARCHIVE, source.name, f"is a damaged wheel: {error}")
        raise


def members(source: Source) -> Iterator[tuple[Source, contextlib.ExitStack]]:
    """The members that may hold device code, each unpacked to a temporary file that lives
    until its stack is closed."""
    with _opened(source) as archive:
        _check_sizes(source, archive)
        for info in archive.infolist():
            if _is_candidate(archive, info):
                held = contextlib.ExitStack()
                yield _unpacked(source, archive, info, held), held


def foreign(source: Source) -> list[str]:
    """Libraries of other platforms, each as a sentence."""
    with _opened(source) as archive:
        return [
            f"{source.name}({info.filename}) is a library for another platform"
            for info in archive.infolist()
            if info.filename.lower().endswith(_FOREIGN_ENDS)
        ]


def _unpacked(
    source: Source, archive: zipfile.ZipFile, info: zipfile.ZipInfo, stack: contextlib.ExitStack
) -> Source:
    scratch = stack.enter_context(tempfile.TemporaryFile(prefix="fatcrate-"))  # noqa: SIM115
    with archive.open(info) as member:
        shutil.copyfileobj(member, scratch, CHUNK)
    scratch.flush()
    return Source(f"{source.name}({info.filename})", fd=scratch.fileno(), size=scratch.tell())


def _is_candidate(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bool:
    if not info.filename or info.is_dir() or info.file_size < 16:
        return False
    with archive.open(info) as member:
        head = member.read(24)
    return head.startswith(_DEVICE_MAGICS) or info.filename.endswith((".ptx", ".cubin"))


def _check_sizes(source: Source, archive: zipfile.ZipFile) -> None:
    """Raises FC0404 for members that claim more than deflate can give."""
    total = 0
    for info in archive.infolist():
        total += info.file_size
        if info.file_size > (info.compress_size + 64) * _DEFLATE_RATIO:
            fail(errors.TOO_LARGE, source.name, f"member {info.filename} claims too much")
    if total > (source.size + 64) * _DEFLATE_RATIO:
        fail(errors.TOO_LARGE, source.name, f"its members claim {total} bytes together")


def rewrite(source: Source, edit: Callable[[Source, BinaryIO], None], stream: BinaryIO) -> None:
    """Writes the wheel with its libraries edited and RECORD brought up to date.

    Everything else, time stamps and permissions included, stays. Raises FC0413 for a signed
    wheel.
    """
    with _opened(source) as archive:
        _check_sizes(source, archive)
        for info in archive.infolist():
            if info.filename.endswith(_SIGNATURES):
                fail(
                    errors.SIGNED_WHEEL,
                    source.name,
                    f"has a signature ({info.filename})",
                    remedy="prune the wheel before it is signed",
                )
        records: dict[str, tuple[str, int]] = {}
        with zipfile.ZipFile(stream, "w") as out:
            record: zipfile.ZipInfo | None = None
            for info in archive.infolist():
                if info.filename.endswith(".dist-info/RECORD"):
                    record = info
                elif not info.filename or info.is_dir():
                    out.writestr(info, b"")
                else:
                    _copy_member(source, archive, info, out, edit, records)
            if record is not None:
                text = _record(archive.read(record), records)
                out.writestr(_same(record), text)


def _same(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """A new entry with the name, time, permissions and method of an old one."""
    made = zipfile.ZipInfo(info.filename, info.date_time)
    made.compress_type = info.compress_type
    made.external_attr = info.external_attr
    made.create_system = info.create_system
    return made


def _copy_member(
    source: Source,
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    out: zipfile.ZipFile,
    edit: Callable[[Source, BinaryIO], None],
    records: dict[str, tuple[str, int]],
) -> None:
    editable = _is_candidate(archive, info) and not info.filename.endswith((".ptx", ".cubin"))
    with contextlib.ExitStack() as stack:
        member: IO[bytes]
        if not editable:
            member = stack.enter_context(archive.open(info))
        else:
            unpacked = _unpacked(source, archive, info, stack)
            member = stack.enter_context(tempfile.TemporaryFile(prefix="fatcrate-"))
            edit(unpacked, cast(BinaryIO, member))
            member.seek(0)
        made = _same(info)
        digest, size = hashlib.sha256(), 0
        with out.open(made, "w", force_zip64=info.file_size >= 1 << 31) as target:
            while block := member.read(CHUNK):
                digest.update(block)
                size += len(block)
                target.write(block)
    text = base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()
    records[info.filename] = (f"sha256={text}", size)


def _record(old: bytes, records: dict[str, tuple[str, int]]) -> bytes:
    """RECORD with hashes and sizes of what was written, in its old order."""
    rows = []
    for row in csv.reader(io.StringIO(old.decode("utf-8"))):
        if len(row) == 3 and row[0] in records and row[1]:
            row = [row[0], records[row[0]][0], str(records[row[0]][1])]
        rows.append(row)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8")

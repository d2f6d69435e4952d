"""Writing files so that a reader sees the old content or the new, never a part.

The temporary file lies beside the target (same file system, so the rename is atomic) and
is removed when anything goes wrong.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


@contextmanager
def atomic_output(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Opens a binary file that replaces ``path`` when the block ends without an exception.

    Raises ``OSError`` (with ``path`` as its file name) when the disk is full or the folder
    cannot be written.
    """
    target = os.fspath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as stream:
            yield stream
        os.replace(temporary, target)
    except OSError as error:
        _discard(temporary)
        raise OSError(error.errno, error.strerror, target) from error
    except BaseException:
        _discard(temporary)
        raise


def _discard(temporary: str) -> None:
    with suppress(OSError):
        os.unlink(temporary)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes ``data`` to ``path`` atomically."""
    with atomic_output(path) as stream:
        stream.write(data)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes ``text`` as UTF-8 to ``path`` atomically."""
    write_bytes(path, text.encode("utf-8"))


def write_if_changed(path: str | os.PathLike[str], data: bytes) -> bool:
    """Writes ``data`` unless ``path`` already holds just that; says whether it wrote.

    Leaving an equal file alone keeps its time stamp, so that Ninja's ``restat`` stops there.
    """
    try:
        with open(path, "rb") as stream:
            if stream.read() == data:
                return False
    except OSError:
        pass
    write_bytes(path, data)
    return True

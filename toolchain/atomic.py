"""Writing files so that a reader sees the old content or the new, never a part.

The temporary file lies beside the target (same file system, so the rename is atomic) and
is removed when anything goes wrong. A symbolic link stays, what it points to is written. A pipe or
device (``/dev/stdout``) cannot be replaced: it gets everything when everything is there.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False  # the module `typing` takes longer to import than all of this
if TYPE_CHECKING:
    from types import TracebackType
    from typing import BinaryIO


class atomic_output:
    """Opens a binary file that replaces ``path`` when the block ends without an exception.

    Where ``path`` already holds just that, it is left alone, so that build systems see that
    nothing changed (Ninja's ``restat``). Raises ``OSError`` (with ``path`` as its file name)
    when the disk is full or the folder cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._target = os.fspath(path)
        real = os.path.realpath(self._target) if os.path.islink(self._target) else self._target
        folder, name = os.path.split(real)
        if _is_stream(self._target):
            import tempfile

            folder = tempfile.gettempdir()
        self._temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")

    def __enter__(self) -> BinaryIO:
        try:
            self._stream = open(self._temporary, "wb")
        except OSError as error:
            raise self._named(error) from error
        return self._stream

    def __exit__(
        self, kind: object, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._stream.close()
            if error is None:
                move_if_changed(self._temporary, self._target)
        except OSError as fault:
            error = fault
        if error is not None:
            self._discard()
        if isinstance(error, OSError):
            raise self._named(error) from error

    def _named(self, error: OSError) -> OSError:
        return OSError(error.errno, error.strerror, self._target)

    def _discard(self) -> None:
        try:  # noqa: SIM105 - contextlib takes time to import
            os.unlink(self._temporary)
        except OSError:
            pass


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


def move_if_changed(made: str | os.PathLike[str], path: str | os.PathLike[str]) -> bool:
    """Moves file ``made`` (same file system) to ``path`` unless that holds just the same.

    Says whether it moved; ``made`` is gone either way. See :func:`write_if_changed`. Where
    ``path`` is a pipe or device, ``made`` is copied into it.
    """
    if _is_stream(path):
        _copy(made, path)
        os.unlink(made)
        return True
    if os.path.islink(path):
        path = os.path.realpath(path)
    if _same_content(made, path):
        os.unlink(made)
        return False
    os.replace(made, path)
    return True


def _is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether something is there that is written into, since it cannot be replaced."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    if stat.S_ISREG(mode):
        # A name of an open file under /proc may lead nowhere else.
        return os.path.islink(path) and not os.path.exists(os.path.realpath(path))
    return not stat.S_ISDIR(mode)


def _copy(made: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    with open(made, "rb") as source, open(path, "wb", buffering=0) as stream:
        while chunk := source.read(1 << 20):
            view = memoryview(chunk)
            while view:
                view = view[stream.write(view) :]


def _same_content(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    block = 1 << 20
    try:
        with open(one, "rb") as left, open(other, "rb") as right:
            if os.fstat(left.fileno()).st_size != os.fstat(right.fileno()).st_size:
                return False
            while chunk := left.read(block):
                if chunk != right.read(block):
                    return False
    except FileNotFoundError:
        return False
    return True

"""One build at a time in an output folder.

The lock is a ``flock`` on a file of the folder. Ninja and the steps that it starts inherit the
open file: whatever ends the driver, even SIGKILL, the folder stays locked for as long as
something still writes to it. The file holds the number of the process that builds.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from fatcrate.rules import errors
from fatcrate.rules.ninja.display import Display
from fatcrate.rules.ninja.places import Places
from fatcrate.toolchain.diagnostics import FatcrateError


@contextmanager
def locked(places: Places, display: Display) -> Iterator[int]:
    """Waits for the lock, saying so; the block gets its descriptor, for children to inherit.

    Finding a process's number when nobody holds the lock means that it was killed; what it left
    behind is removed.
    """
    own = places.absolute(places.own(""))
    there = os.path.isdir(own)
    with _acquire(own, places, display) as stream:
        if _holder(stream):
            from fatcrate.rules.ninja import sweep

            sweep.remove_temporary(places)
        stream.truncate(0)
        stream.write(str(os.getpid()))
        stream.flush()
        try:
            yield stream.fileno()
        except FatcrateError as error:
            kinds = [fault.kind for fault in error.diagnostics]
            if not there and errors.BAD_OUTPUT_FOLDER in kinds:
                shutil.rmtree(own, ignore_errors=True)
            raise
        finally:
            stream.truncate(0)


def _acquire(own: str, places: Places, display: Display) -> TextIO:
    """The lock file, locked. `fatcrate clean` removes the file: then there is a new one."""
    path = os.path.join(own, "lock")
    while True:
        os.makedirs(own, exist_ok=True)
        try:
            stream = open(path, "a+", encoding="ascii", errors="replace")  # noqa: SIM115
        except FileNotFoundError:
            continue  # removed in between
        try:
            _wait(stream, places, display)
            if _is_file(stream, path):
                return stream
        except BaseException:
            stream.close()
            raise
        stream.close()


def _wait(stream: TextIO, places: Places, display: Display) -> None:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = _holder(stream)
        if holder.isdecimal() and not _is_alive(int(holder)):
            display.say(f"waiting: steps of a build that was killed still run in {places.out}")
        else:
            by = f" by process {holder}" if holder else ""
            display.say(f"waiting: another build runs in {places.out}{by}")
        fcntl.flock(stream, fcntl.LOCK_EX)


def _is_file(stream: TextIO, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def _holder(stream: TextIO) -> str:
    stream.seek(0)
    return stream.read().strip()

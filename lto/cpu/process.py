"""The parent's side of a worker: starts it, talks to it, notices its death."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import IO, Any

import fatcrate
from fatcrate.lto.cpu import wire
from fatcrate.lto.cpu.state import State

#: Makes ``fatcrate`` importable just as it is in this process, however that came about, and
#: runs the worker.
_BOOT = """\
import json, sys
from importlib.util import module_from_spec, spec_from_file_location
path, init, places, socket_fd, state_fd, parent = json.loads(sys.argv[1])
sys.path[:] = path
spec = spec_from_file_location("fatcrate", init, submodule_search_locations=places)
module = module_from_spec(spec)
sys.modules["fatcrate"] = module
spec.loader.exec_module(module)
from fatcrate.lto.cpu.worker import main
main(socket_fd, state_fd, parent)
"""


@dataclass
class Died(Exception):
    """The worker ended, or was ended because it took too long."""

    timed_out: bool
    signal: str  # "SIGSEGV", or "" when it exited by itself
    noise: list[str]  # the last lines that it printed


def memory_file(size: int) -> int:
    """A descriptor of ``size`` bytes of memory that can be passed on. Raises ``OSError``."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("fatcrate", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as stream:
            fd = os.dup(stream.fileno())
    os.ftruncate(fd, size)
    return fd


class Worker:
    """A running worker."""

    def __init__(self) -> None:
        import ctypes

        self._state_fd = memory_file(ctypes.sizeof(State))
        self._noise: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        ours, theirs = socket.socketpair()
        self._end = ours
        boot = [
            [os.path.abspath(p) for p in sys.path],
            fatcrate.__file__,
            list(fatcrate.__path__),
            theirs.fileno(),
            self._state_fd,
            os.getpid(),
        ]
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _BOOT, json.dumps(boot)],
            pass_fds=(theirs.fileno(), self._state_fd),
            stdin=subprocess.DEVNULL,
            stdout=self._noise,
            stderr=self._noise,
        )
        theirs.close()

    def ask(self, message: Any, fds: tuple[int, ...] = (), timeout: float | None = None) -> Any:
        """Sends a message and waits for the answer; ``timeout`` in seconds.

        Raises :class:`Died`; the worker is of no use after that.
        """
        try:
            wire.send(self._end, message, fds)
            if not select.select([self._end], [], [], timeout)[0]:
                raise self._died(timed_out=True)
            return wire.receive(self._end)[0]
        except wire.Closed:
            raise self._died(timed_out=False) from None
        except Died:
            raise
        except BaseException:
            self.close()
            raise

    def state(self) -> State:
        """A copy of the runner's state as the worker last left it."""
        import ctypes

        return State.from_buffer_copy(os.pread(self._state_fd, ctypes.sizeof(State), 0))

    def _died(self, *, timed_out: bool) -> Died:
        if timed_out:
            self._process.kill()
        code = self._process.wait()
        name = ""
        if code < 0 and not timed_out:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"signal {-code}"
        self._noise.seek(0)
        lines = self._noise.read().decode("utf-8", "replace").strip().splitlines()
        return Died(timed_out, name, lines[-5:])

    def close(self) -> None:
        """Ends the worker. Needed at most once, harmless when repeated."""
        if self._state_fd < 0:
            return
        self._end.close()
        try:
            self._process.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._noise.close()
        os.close(self._state_fd)
        self._state_fd = -1

"""Runs work on LLVM in a child process, so that LLVM's end is not ours.

LLVM calls ``abort`` on input that its code generators refuse, and a damaged module can make
it crash or spin. The child is forked (the parent may have loaded LLVM, but not run it), keeps
what LLVM prints on stderr, and sends its result back through a file without a name.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, NamedTuple, TypeVar, cast

from fatcrate.toolchain import memory
from fatcrate.toolchain.diagnostics import FatcrateError

T = TypeVar("T")

DEFAULT_TIMEOUT = 900.0  # seconds

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class Crash(Exception):
    """The child ended without a result. ``signal`` is 0 when it exited by itself."""

    def __init__(self, signal: int, exit_code: int, stderr: str, timed_out: bool = False) -> None:
        super().__init__(signal, exit_code, stderr, timed_out)
        self.signal = signal
        self.exit_code = exit_code
        self.stderr = stderr
        self.timed_out = timed_out

    def reason(self) -> str:
        """``ended by SIGABRT``, ``ran longer than 900 s``, ``exited with code 1``."""
        if self.timed_out:
            return "did not finish in time"
        if self.signal:
            return ended_by(self.signal)
        return f"exited with code {self.exit_code}"


def ended_by(number: int) -> str:
    """``was ended by SIGABRT``."""
    try:
        return f"was ended by {signal.Signals(number).name}"
    except ValueError:
        return f"was ended by signal {number}"


def remedy(number: int) -> str:
    """What helps against a signal that the program does not give itself; "" when none is known."""
    if number != signal.SIGKILL:
        return ""
    return "the memory may have run out: run fewer steps at a time (-j)"


def run(work: Callable[[], T], *, timeout: float = DEFAULT_TIMEOUT) -> T:
    """Calls ``work`` in a child process and returns its (picklable) result.

    Raises the :class:`FatcrateError` that ``work`` raised, or :class:`Crash`. ``timeout`` is
    in seconds of wall time.
    """
    (outcome,) = run_all([work], workers=1, timeout=timeout)
    if isinstance(outcome, Failed):
        raise outcome.error
    return outcome


class Failed(NamedTuple):
    """What stands in a result's place: the error to raise for it."""

    error: Crash | FatcrateError


def run_all(
    works: Sequence[Callable[[], T]],
    *,
    workers: int,
    timeout: float = DEFAULT_TIMEOUT,
    need: int = 0,
    room: memory.Room = memory.available,
) -> list[T | Failed]:
    """Runs several at once, ``workers`` at a time; results come in the order of ``works``.

    ``need`` is the memory in bytes that one of them takes by a guess; as soon as one has ended,
    what it took counts instead. No more run than fit into the ``room``, but always one.
    """
    waiting = list(enumerate(works))
    running: dict[int, tuple[int, _Child]] = {}  # file descriptor -> place, child
    outcomes: dict[int, Any] = {}
    measured = 0
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                taken = ((need, memory.resident(child.process)) for _, child in running.values())
                if running and not memory.fits(room(), need, taken):
                    break
                place, work = waiting.pop(0)
                child = _Child(work)
                running[child.alive] = (place, child)
            left = min(child.begun + timeout - time.monotonic() for _, child in running.values())
            ready, _, _ = select.select(list(running), [], [], max(left, 0))
            for descriptor in list(running):
                place, child = running[descriptor]
                late = time.monotonic() - child.begun >= timeout
                if descriptor in ready or late:
                    del running[descriptor]
                    outcomes[place] = child.finish(killed=descriptor not in ready)
                    need = measured = max(measured, child.peak)
    except BaseException:
        for _, child in running.values():
            child.finish(killed=True)
        raise
    return [outcomes[place] for place in range(len(works))]


class _Child:
    """A forked process that runs one piece of work."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.begun = time.monotonic()
        self.peak = 0  # bytes, known at the end
        self._result, self._noise = _nameless(), _nameless()
        self.alive, alive_child = os.pipe()  # closed by the child's death
        parent = os.getpid()
        self.process = os.fork()
        if self.process == 0:
            os.close(self.alive)
            _end_with(parent)
            _child(work, self._result.fileno(), self._noise.fileno())
        os.close(alive_child)

    def finish(self, killed: bool) -> Any:
        """Ends the child if need be, and reads what it left."""
        if killed:
            os.kill(self.process, signal.SIGKILL)
        _, status, usage = os.wait4(self.process, 0)
        self.peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        os.close(self.alive)
        with self._result, self._noise:
            self._result.seek(0)
            self._noise.seek(0)
            stderr = self._noise.read().decode("utf-8", "replace")
            if killed or status != 0:
                number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
                code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0
                return Failed(Crash(number, code, stderr, killed))
            try:
                kind, value = pickle.load(self._result)
            except EOFError:  # LLVM ended the process, content: `-help` among its options
                return Failed(Crash(0, 0, stderr))
        return Failed(FatcrateError(*value)) if kind == "diagnostics" else value


def _nameless() -> BinaryIO:
    """A file without a name: in memory where the system can, else in the temporary folder."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("fatcrate"), "w+b")
    import tempfile

    return cast(BinaryIO, tempfile.TemporaryFile())


def _child(work: Callable[[], Any], result: int, noise: int) -> None:
    """The child's life; never returns."""
    code = 1
    try:
        os.dup2(noise, 2)
        _die_quietly()
        try:
            message: tuple[str, Any] = ("result", work())
        except FatcrateError as error:
            message = ("diagnostics", error.diagnostics)
        with os.fdopen(os.dup(result), "wb") as stream:
            pickle.dump(message, stream, protocol=pickle.HIGHEST_PROTOCOL)
        code = 0
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


def _end_with(parent: int) -> None:
    """Has the system kill this process when ``parent``, which forked it, is gone."""
    if sys.platform != "linux":
        return
    import ctypes  # both engines need it anyway

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _die_quietly() -> None:
    """No core file, and no Python traceback on a terminal that was stderr before."""
    import faulthandler
    import resource

    faulthandler.disable()
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))

"""Runs work on LLVM in a child process, so that LLVM's end is not ours.

LLVM calls ``abort`` on input that its code generators refuse, and a damaged module can make
it crash or spin. The child is forked (the parent must not have loaded LLVM), keeps what LLVM
prints on stderr, and sends its result back through a file without a name.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from fatcrate.toolchain.diagnostics import Diagnostic, FatcrateError

T = TypeVar("T")

DEFAULT_TIMEOUT = 900.0  # seconds


@dataclass
class Crash(Exception):
    """The child ended without a result."""

    signal: int  # 0 when it exited by itself
    exit_code: int
    stderr: str
    timed_out: bool = False

    def reason(self) -> str:
        """``ended by SIGABRT``, ``ran longer than 900 s``, ``exited with code 1``."""
        if self.timed_out:
            return "did not finish in time"
        if self.signal:
            try:
                return f"was ended by {signal.Signals(self.signal).name}"
            except ValueError:
                return f"was ended by signal {self.signal}"
        return f"exited with code {self.exit_code}"


def run(work: Callable[[], T], *, timeout: float = DEFAULT_TIMEOUT) -> T:
    """Calls ``work`` in a child process and returns its (picklable) result.

    Raises the :class:`FatcrateError` that ``work`` raised, or :class:`Crash`. ``timeout`` is
    in seconds of wall time.
    """
    with tempfile.TemporaryFile() as result, tempfile.TemporaryFile() as noise:
        alive, alive_child = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(alive)
            _child(work, result.fileno(), noise.fileno())
        os.close(alive_child)
        try:
            status, timed_out = _wait(child, alive, timeout)
        except BaseException:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise
        finally:
            os.close(alive)
        result.seek(0)
        noise.seek(0)
        stderr = noise.read().decode("utf-8", "replace")
        if timed_out or status != 0:
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0
            raise Crash(number, code, stderr, timed_out)
        kind, value = pickle.load(result)
    if kind == "diagnostics":
        diagnostics: tuple[Diagnostic, ...] = value
        raise FatcrateError(*diagnostics)
    done: T = value
    return done


def _wait(child: int, alive: int, timeout: float) -> tuple[int, bool]:
    """Waits until the child has closed its end of the pipe, which its death does."""
    ready, _, _ = select.select([alive], [], [], timeout)
    if not ready:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return status, not ready


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


def _die_quietly() -> None:
    """No core file, and no Python traceback on a terminal that was stderr before."""
    import faulthandler
    import resource

    faulthandler.disable()
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))

"""The frame around every command: what goes wrong becomes a message and an exit status.

Imports next to nothing before something goes wrong, since every step starts here.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # the module `typing` takes longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NoReturn

    from fatcrate.toolchain.diagnostics import Diagnostic

EXIT_INPUT = 1
EXIT_USAGE = 2
EXIT_ENVIRONMENT = 3
EXIT_INTERRUPTED = 130

_STDOUT = "standard output"


def _flushed(run: Callable[[], int]) -> int:
    """Runs ``run``; what it printed must have been written before it counts as done."""
    try:
        status = run()
    except SystemExit:  # argparse has printed its help
        _flush()
        raise
    _flush()
    return status


def _flush() -> None:
    try:
        sys.stdout.flush()
    except OSError as error:
        _silence()
        raise OSError(error.errno, error.strerror, _STDOUT) from error


def _silence() -> None:
    """What is left to be printed goes nowhere: Python would try it again at exit and fail."""
    try:  # noqa: SIM105 - contextlib takes time to import
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # a stream of tests has no number
        pass


def guarded(run: Callable[[], int], *, program: str, as_json: bool = False) -> int:
    """Runs a command's body; turns every failure into a message and an exit code.

    ``FatcrateError`` gives its own code, Ctrl-C 130, a full disk or unreadable file 3
    (kind ``FC0201``). A bug gives 3 and asks for a report; never a traceback unless
    ``FATCRATE_DEBUG`` is set.
    """
    try:
        return _flushed(run)
    except KeyboardInterrupt:
        return _interrupted(program)
    except BrokenPipeError:
        _silence()  # the reader of our output went away
        return EXIT_ENVIRONMENT
    except Exception as error:
        return _told(error, program, as_json)


_asked = False


def interrupt(_number: int, _frame: object) -> None:
    """Handles SIGINT as Python does, and remembers it: while a library written in C is
    imported, the exception becomes another."""
    global _asked
    _asked = True
    raise KeyboardInterrupt


def _interrupted(program: str) -> int:
    _print(f"{program}: interrupted")
    return EXIT_INTERRUPTED


def _told(error: Exception, program: str, as_json: bool) -> int:
    """Reports a failure; returns its exit code."""
    from fatcrate.toolchain import diagnostics, errors

    if isinstance(error, diagnostics.FatcrateError):
        return _reported(error.diagnostics, as_json, error.exit_code)
    if isinstance(error, MemoryError):
        import errno

        error = OSError(errno.ENOMEM, f"{program}: {os.strerror(errno.ENOMEM)}")
    if isinstance(error, OSError):
        try:
            sys.stdout.flush()
        except OSError as again:
            _silence()
            if error.filename is None:
                error = OSError(again.errno, again.strerror, _STDOUT)
        return _reported([errors.from_os_error(error)], as_json, EXIT_ENVIRONMENT)
    if _asked:
        return _interrupted(program)
    if os.environ.get("FATCRATE_DEBUG"):
        raise error
    return _reported([errors.internal(program, error)], as_json, EXIT_ENVIRONMENT)


def _reported(found: Iterable[Diagnostic], as_json: bool, status: int) -> int:
    from fatcrate.toolchain import diagnostics

    try:  # noqa: SIM105 - contextlib takes time to import
        diagnostics.report(found, as_json=as_json)
    except OSError:
        pass  # nowhere to tell it; the exit status does
    return status


def leave(status: int) -> NoReturn:
    """Ends the process with ``status``: waits for threads and runs what asked to run at exit.

    Python would then free every module and object, which takes as long as a short command
    does. And after a Ctrl-C in code that was made at run time, as that of data classes is, it
    would end by SIGINT however that was handled.
    """
    import atexit

    threading = sys.modules.get("threading")
    if threading is not None:
        threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - contextlib takes time to import
            stream.flush()
        except (OSError, ValueError):
            pass  # `guarded` has told it, or there is nowhere to tell it
    os._exit(status)


def _print(text: str) -> None:
    try:  # noqa: SIM105
        print(text, file=sys.stderr)
    except OSError:
        pass  # as above

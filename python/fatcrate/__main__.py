"""``python -m fatcrate``, and where the installed ``fatcrate`` starts.

Before anything that takes time is imported: Ctrl-C ends quietly, and the standard streams are
open. A program that is started without one of them would give its number to the next file that
it opens, and write its messages there.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` takes its time to import
import os
import sys

_INTERRUPTED = 130


def _end(_number: int, _frame: object) -> None:
    os.write(2, b"fatcrate: interrupted\n")
    os._exit(_INTERRUPTED)


def _open_streams() -> None:
    """Opens ``/dev/null`` in the place of each standard stream that is closed."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
            os.set_inheritable(number, True)
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
    if getattr(sys.stdout, "write_through", False):
        # PYTHONUNBUFFERED: what argparse fails to write would be lost. A buffer keeps it, and
        # fails again at its flush.
        old = sys.stdout
        sys.stdout = open(1, "w", 1, old.encoding, old.errors, closefd=False)  # noqa: SIM115


def entry() -> None:
    """Console-script entry point."""
    _open_streams()
    guarded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if guarded:
        signal.signal(signal.SIGINT, _end)
    from fatcrate.rules import cli

    def ready() -> None:
        if guarded:
            from fatcrate.toolchain.guard import interrupt

            signal.signal(signal.SIGINT, interrupt)

    status = cli.main(ready=ready)
    if guarded:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left to interrupt
    from fatcrate.toolchain.guard import leave

    leave(status)


if __name__ == "__main__":
    entry()

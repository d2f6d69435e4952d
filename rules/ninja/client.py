"""Starts one step for Ninja: ``python -I -S client.py fatcrate STEP ARGUMENT...``.

Under ``fatcrate build`` the step runs in a process forked from one that has everything
imported (``server.py``), which saves most of a short step's time; :data:`VARIABLE` tells where
that listens. Without it, as under plain Ninja, the step runs in this process. Both do the same:
the variable says how a step is started, never what it does.

Imports nothing that takes time. The protocol stands in ``server.py``.
"""

import os
import sys

#: Holds the name of the server's socket, in the abstract name space of Linux.
VARIABLE = "FATCRATE_STEP_SERVER"

#: Steps that need no packages but ours, these two with rustc's own libLLVM.
_BARE = ("compile", "assemble")
_BARE_WITH_LIBLLVM = ("link", "codegen")

_ENDED = 3  # exit status of a step that was killed, see diagnostics.py


def main() -> int:
    """Runs the step, there or here; returns its exit status."""
    words = sys.argv[2:]
    name = os.environ.get(VARIABLE)
    if name:
        status = _ask(name, words)
        if status is not None:
            return status
    return _run(words)


def _ask(name: str, words: list[str]) -> int | None:
    """Has the server run the step; None when there is no server that would."""
    import _signal  # type: ignore[import-not-found]
    import _socket

    signals = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)
    # A signal that comes before the step is known waits until it can be passed on.
    _signal.pthread_sigmask(_signal.SIG_BLOCK, signals)
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    group = 0
    try:
        connection.connect(f"\0{name}")
        text = b"\0".join([os.getcwdb(), *map(os.fsencode, words)])
        streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (1, 2))
        control = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)]
        connection.sendmsg([len(text).to_bytes(4, "little")], control)
        connection.sendall(text)
        group = int.from_bytes(connection.recv(4), "little")
    except OSError:
        pass
    if group:
        for number in signals:
            _signal.signal(number, lambda number, _: _pass_on(group, number))
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, signals)
    if not group:
        return None
    status = connection.recv(1)
    if not status:
        print("fatcrate: the step was killed", file=sys.stderr)
        return _ENDED
    return status[0]


def _pass_on(group: int, number: int) -> None:
    try:  # noqa: SIM105 - contextlib takes longer to import than all of this
        os.killpg(group, number)
    except OSError:
        pass


def _is_bare(step: str, words: list[str]) -> bool:
    """Whether the step needs no packages but ours."""
    if step in _BARE_WITH_LIBLLVM and "--engine" in words:
        named = words[words.index("--engine") + 1 :]
        return bool(named) and named[0].startswith("libllvm")
    return step in _BARE


def _run(words: list[str]) -> int:
    """Runs the step in this process, whose interpreter has not looked for packages yet."""
    if not _is_bare(words[0] if words else "", words):
        import site

        site.main()  # as packages.py does it where a step needs some after all
    # The folder that holds the package `fatcrate`: this file lies in fatcrate/rules/ninja.
    home = os.path.abspath(__file__)
    for _ in range(4):
        home = os.path.dirname(home)
    if home not in sys.path:
        sys.path.append(home)
    from fatcrate.rules.cli import main as run

    return run(words)


def _end(status: int) -> None:
    """Ends the process without taking the interpreter to pieces."""
    sys.stderr.flush()
    os._exit(status)  # what was printed is written, see guard.py


if __name__ == "__main__":
    _end(main())

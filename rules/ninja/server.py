"""Runs steps in processes forked from one that has their modules imported.

A Python process that imports a step's modules takes ten times as long to start as one that
is forked with them. The server is a child of the driver and lives as long as it. A client
(``client.py``) sends its working folder and argv, and its stdout and stderr; the server forks,
the child runs the step with them.

Protocol, on a stream socket: the client sends a length (4 bytes, little endian) together with
the two descriptors, then that many bytes: working folder and argv, separated by NUL. Back come
the process group of the step (4 bytes), for signals, and at its end one byte, its exit status.
A step that is killed closes the connection without one.

Only processes of the same user are served. Steps read no environment and no state of the
server; what is not done in the fork is what ``python -I`` would leave out: folders of
``PYTHONPATH`` and of the script are removed from the import path.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO, cast

if TYPE_CHECKING:
    import socket

#: Modules of steps, in the order in which builds come to need them. By name: this package
#: imports no other's modules.
_MODULES = (
    "fatcrate.rules.compile",
    "fatcrate.lto.link",
    "fatcrate.lto.codegen",
    "fatcrate.lto.assemble",
    "fatcrate.fatbin.abicheck",
    "fatcrate.fatbin.pack",
    "fatcrate.fatbin.embed",
)

#: Variables that change what a Python process does; with one of them each step gets its own.
_TOUCHY = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONWARNINGS")


@dataclass
class Server:
    """A socket under ``name``, and once it was started the process that answers there.

    Clients may come before the start; they wait. ``name`` is "" where steps must start by
    themselves.
    """

    name: str
    listener: socket.socket | None = None
    pid: int = 0
    alive: int = -1  # closing it ends the server

    def start(self) -> None:
        """Starts the process, once."""
        if self.listener is None or self.pid:
            return
        ours, self.alive = os.pipe()
        try:
            self.pid = os.fork()
        except OSError:
            self.stop()
            return
        if self.pid == 0:
            os.close(self.alive)
            _serve_and_exit(self.listener, ours)
        os.close(ours)

    def stop(self) -> None:
        """Ends it. Clients that wait are turned away and run their steps themselves."""
        if self.listener is not None:
            self.listener.close()
            self.listener = None
        if self.alive >= 0:
            os.close(self.alive)
            self.alive = -1
        if self.pid:
            os.waitpid(self.pid, 0)
            self.pid = 0


@contextmanager
def serving() -> Iterator[Server]:
    """A server for the block. Until it is started it costs next to nothing."""
    server = Server("")
    if sys.platform == "linux" and not any(name in os.environ for name in _TOUCHY):
        import _socket  # the module `socket` takes longer to import than all of this

        name = f"fatcrate-{os.getpid()}-{os.urandom(8).hex()}"
        listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            listener.bind(f"\0{name}")
            listener.listen(128)
            server = Server(name, listener)  # type: ignore[arg-type]
        except OSError:
            listener.close()
    try:
        yield server
    finally:
        server.stop()


def _serve_and_exit(bare: socket.socket, alive: int) -> None:
    """The server's whole life."""
    import signal
    import socket

    try:
        listener = socket.socket(fileno=bare.detach())
        # Ctrl-C in a terminal is the driver's matter; steps are told by their clients.
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        sys.path = [path for path in sys.path if path and os.path.isdir(path) and not _script(path)]
        _serve(listener, alive)
    finally:
        os._exit(0)


def _script(path: str) -> bool:
    """Whether a folder of the import path is there for the script alone."""
    return path == os.path.dirname(os.path.abspath(sys.argv[0]))


def _serve(listener: socket.socket, alive: int) -> None:
    """Answers until the driver is gone; imports what is missing while nobody asks.

    Nothing is imported before the first step, so that a build with nothing to do costs a fork
    and no more.
    """
    import select

    missing = list(_MODULES)
    asked = False
    while True:
        wait = 0 if asked and missing else None
        sources: list[socket.socket | int] = [listener, alive]
        ready, _, _ = select.select(sources, [], [], wait)
        if listener in ready:
            connection, _ = listener.accept()
            with connection:
                _answer(connection, listener, alive)
            asked = True
        elif alive in ready:
            return
        else:
            importlib.import_module(missing.pop(0))


def _answer(connection: socket.socket, listener: socket.socket, alive: int) -> None:
    """Forks for one step."""
    import signal
    import socket
    import struct

    peer = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if peer[1] != os.getuid():
        return
    pid = os.fork()
    if pid:
        return
    status = 3
    try:
        listener.close()
        os.close(alive)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setpgid(0, 0)
        words = _receive(connection)
        connection.sendall(struct.pack("<i", os.getpid()))
        status = _run(words)
        connection.sendall(bytes([status]))
    finally:
        os._exit(status)


def _receive(connection: socket.socket) -> list[str]:
    """Takes over the client's folder and streams; returns the argv."""
    import array
    import socket
    import struct

    room = socket.CMSG_SPACE(2 * array.array("i").itemsize)
    head, control, _, _ = connection.recvmsg(4, room)
    streams = array.array("i")
    streams.frombytes(control[0][2])
    null = os.open(os.devnull, os.O_RDONLY)
    for place, number in enumerate((null, *streams)):
        os.dup2(number, place)
        if number > 2:
            os.close(number)
    sys.stdin = _stream(0, "r", "surrogateescape")
    sys.stdout = _stream(1, "w", "surrogateescape")
    sys.stderr = _stream(2, "w", "backslashreplace")
    (left,) = struct.unpack("<I", head)
    text = b""
    while len(text) < left:
        text += connection.recv(left - len(text))
    folder, *words = text.split(b"\0")
    os.chdir(folder)
    return [os.fsdecode(word) for word in words]


def _stream(number: int, mode: str, errors: str) -> TextIO:
    stream = open(number, mode, 1, "utf-8", errors, closefd=False)  # noqa: SIM115
    return cast("TextIO", stream)


def _run(words: list[str]) -> int:
    """Runs the step as a fresh process would."""
    from fatcrate.rules import cli

    try:
        status = cli.main(words)
    except SystemExit as end:  # argparse
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # with FATCRATE_DEBUG
        import traceback

        traceback.print_exc()
        status = 3
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            status = status or 3
    return status & 0xFF

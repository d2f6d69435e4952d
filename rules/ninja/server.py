"""Runs steps in processes forked from one that has their modules imported.

A Python process that imports a step's modules takes ten times as long to start as one that
is forked with them. The server is a child of the driver and lives as long as it. A client
(``client.py``) sends its working folder and argv, and its stdout and stderr; the server forks,
the child runs the step with them.

Protocol, on a stream socket: the client sends a length (4 bytes, little endian) together with
the two descriptors, then that many bytes: working folder and argv, separated by NUL. Back come
the process group of the step (4 bytes), for signals, and at its end one byte, its exit status.
A step that is killed closes the connection without one.

A step waits while it would not fit into memory beside those that run. What a step needs is
the most that one of its kind took in this build, and before one has ended a guess.

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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO, cast

from fatcrate.toolchain import memory

if TYPE_CHECKING:
    import socket

#: Modules of steps, in the order in which builds come to need them. By name: this package
#: imports no other's modules.
_MODULES = (
    "fatcrate.rules.compile",
    "fatcrate.lto.link",
    "fatcrate.lto.codegen",
    "fatcrate.lto.llvm",  # LLVM itself: loaded here, run in the steps' workers
    "fatcrate.lto.assemble",
    "fatcrate.fatbin.abicheck",
    "fatcrate.fatbin.pack",
    "fatcrate.fatbin.embed",
)

#: Bytes of memory that a step takes, before one of its kind was measured: so much, and so much
#: for each byte of its largest input. Measured: rustc on small crates; link and codegen with
#: both engines on modules up to 130 kB; ptxas on PTX up to 1.1 MB.
_NEEDS = {
    "compile": (200 << 20, 0),
    "link": (112 << 20, 8),
    "codegen": (96 << 20, 64),
    "assemble": (48 << 20, 40),
}
_OTHER_NEEDS = (64 << 20, 2)

#: Variables that change what a Python process does; with one of them each step gets its own.
_TOUCHY = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONWARNINGS")


@dataclass
class Server:
    """A socket under ``name``, and once it was started the process that answers there.

    Clients may come before the start; they wait. After it the process alone holds the socket.
    ``name`` is "" where steps must start by themselves.
    """

    name: str
    listener: socket.socket | None = None
    room: memory.Room = memory.available
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
            _serve_and_exit(self.listener, ours, self.room)
        os.close(ours)
        # Should the server end before its time, its clients are turned away and do not wait.
        self.listener.close()
        self.listener = None

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
def serving(room: memory.Room = memory.available) -> Iterator[Server]:
    """A server for the block. Until it is started it costs next to nothing.

    ``room`` tells the bytes of memory that steps may still take.
    """
    server = Server("")
    if sys.platform == "linux" and not any(name in os.environ for name in _TOUCHY):
        import _socket  # the module `socket` takes longer to import than all of this

        name = f"fatcrate-{os.getpid()}-{os.urandom(8).hex()}"
        listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            listener.bind(f"\0{name}")
            listener.listen(128)
            server = Server(name, listener, room)  # type: ignore[arg-type]
        except OSError:
            listener.close()
    try:
        yield server
    finally:
        server.stop()


def _serve_and_exit(bare: socket.socket, alive: int, room: memory.Room) -> None:
    """The server's whole life."""
    import signal
    import socket

    try:
        listener = socket.socket(fileno=bare.detach())
        # Ctrl-C in a terminal is the driver's matter; steps are told by their clients.
        os.setpgid(0, 0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        sys.path = [path for path in sys.path if path and os.path.isdir(path) and not _script(path)]
        _Host(listener, alive, room).serve()
    finally:
        os._exit(0)


def _script(path: str) -> bool:
    """Whether a folder of the import path is there for the script alone."""
    return path == os.path.dirname(os.path.abspath(sys.argv[0]))


@dataclass
class _Step:
    """A step that a client asked for."""

    connection: socket.socket
    folder: bytes
    words: list[str]
    streams: list[int]  # stdout and stderr
    pid: int = 0

    @property
    def kind(self) -> str:
        return self.words[0] if self.words else ""

    def guess(self) -> int:
        """Bytes of memory that it may take, going by its kind and its largest input."""
        base, factor = _NEEDS.get(self.kind, _OTHER_NEEDS)
        return base + factor * max(map(self._size, self.words), default=0)

    def _size(self, word: str) -> int:
        path = os.path.join(self.folder, os.fsencode(word.rpartition("=")[2]))
        try:
            return os.stat(path).st_size
        except (OSError, ValueError):
            return 0

    def close(self) -> None:
        """Leaves it to the process that runs it."""
        self.connection.close()
        for number in self.streams:
            os.close(number)


@dataclass
class _Host:
    """The server's state: steps that wait for memory, and those that run."""

    listener: socket.socket
    alive: int
    room: memory.Room
    waiting: list[_Step] = field(default_factory=list)
    running: dict[int, _Step] = field(default_factory=dict)  # descriptor that closes at its end
    peaks: dict[str, int] = field(default_factory=dict)  # kind of step -> bytes that one took

    def serve(self) -> None:
        """Answers until the driver is gone; imports what is missing while nobody asks.

        Nothing is imported before the first step, so that a build with nothing to do costs a
        fork and no more.
        """
        import select

        missing = list(_MODULES)
        asked = False
        while True:
            wait = 0 if asked and missing else None
            sources: list[socket.socket | int] = [self.listener, self.alive, *self.running]
            ready, _, _ = select.select(sources, [], [], wait)
            for end in [number for number in self.running if number in ready]:
                self._reap(end)
            if self.listener in ready:
                self._accept()
                asked = True
            elif self.alive in ready:
                return
            elif not ready:
                importlib.import_module(missing.pop(0))
            while self.waiting and self._fits(self.waiting[0]):
                self._start(self.waiting.pop(0))

    def _need(self, step: _Step) -> int:
        return self.peaks.get(step.kind) or step.guess()

    def _fits(self, step: _Step) -> bool:
        if not self.running:
            return True
        running = [
            (self._need(other), memory.resident(other.pid)) for other in self.running.values()
        ]
        return memory.fits(self.room(), self._need(step), running)

    def _accept(self) -> None:
        import socket
        import struct

        connection, _ = self.listener.accept()
        connection.settimeout(10)
        try:
            peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            if struct.unpack("3i", peer)[1] == os.getuid():
                self.waiting.append(_receive(connection))
                return
        except (OSError, IndexError):
            pass
        connection.close()  # the client runs the step itself

    def _start(self, step: _Step) -> None:
        """Forks for one step."""
        end, end_of_step = os.pipe()
        step.pid = os.fork()
        if step.pid == 0:
            self.listener.close()
            for number in (self.alive, end, *self.running):
                os.close(number)
            for other in self.waiting:
                other.close()
            _run_and_exit(step)
        os.close(end_of_step)
        step.close()
        self.running[end] = step

    def _reap(self, end: int) -> None:
        """Takes note of a step's end and of the memory that it took."""
        os.close(end)
        step = self.running.pop(end)
        _, _, usage = os.wait4(step.pid, 0)
        self.peaks[step.kind] = max(self.peaks.get(step.kind, 0), usage.ru_maxrss * 1024)


def _run_and_exit(step: _Step) -> None:
    """The life of the process of a step."""
    import signal
    import struct

    status = 3
    try:
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setpgid(0, 0)
        step.connection.settimeout(None)
        _take_over(step)
        step.connection.sendall(struct.pack("<i", os.getpid()))
        status = _run(step.words)
        step.connection.sendall(bytes([status]))
    finally:
        os._exit(status)


def _receive(connection: socket.socket) -> _Step:
    """Reads what a client asks for."""
    import array
    import socket
    import struct

    room = socket.CMSG_SPACE(2 * array.array("i").itemsize)
    head, control, _, _ = connection.recvmsg(4, room)
    streams = array.array("i")
    streams.frombytes(control[0][2])
    (left,) = struct.unpack("<I", head)
    text = b""
    while len(text) < left:
        piece = connection.recv(left - len(text))
        if not piece:
            raise OSError("the client is gone")
        text += piece
    folder, *words = text.split(b"\0")
    return _Step(connection, folder, [os.fsdecode(word) for word in words], list(streams))


def _take_over(step: _Step) -> None:
    """Makes the client's folder and streams those of this process."""
    null = os.open(os.devnull, os.O_RDONLY)
    for place, number in enumerate((null, *step.streams)):
        os.dup2(number, place)
        if number > 2:
            os.close(number)
    sys.stdin = _stream(0, "r", "surrogateescape")
    sys.stdout = _stream(1, "w", "surrogateescape")
    sys.stderr = _stream(2, "w", "backslashreplace")
    os.chdir(step.folder)


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

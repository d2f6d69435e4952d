"""What parent and worker say to each other: pickled messages over a socket pair.

Both ends are processes of the same program, started one by the other; nothing else can reach
the socket. A message is eight bytes of length (little endian) and a pickle. A launch carries
the file descriptor of its arena.
"""

from __future__ import annotations

import dataclasses
import pickle
import socket
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fatcrate.lto.cpu.prepare import Entry, Stage
from fatcrate.lto.cpu.sites import Site
from fatcrate.toolchain.diagnostics import Diagnostic

if TYPE_CHECKING:
    from fatcrate.lto.cpu.arena import Arena

Dim = tuple[int, int, int]

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class Load:
    """Prepare a linked module. ``host_level`` is how hard the host's code generator tries."""

    name: str
    linked: bytes
    stage: Stage
    opt_level: str
    host_level: int


@dataclass(frozen=True)
class Loaded:
    """The answer: what can be launched."""

    entries: dict[str, Entry]
    sites: list[Site]


@dataclass(frozen=True)
class Refused:
    """The answer when something is wrong with the request."""

    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class Launch:
    """Run a kernel. An argument is bytes, the offset of a buffer in the arena, or None: null."""

    kernel: str
    grid: Dim
    block: Dim
    dynamic_bytes: int
    stack_bytes: int
    seed: int | None  # None: threads and blocks in order
    lenient: bool
    heap_bytes: int
    arguments: tuple[bytes | int | None, ...] = ()
    arena_bytes: int = 0
    denied: tuple[tuple[int, int], ...] = ()  # offset and size of pages without access

    def with_arguments(self, values: tuple[bytes | int | None, ...], arena: Arena) -> Launch:
        """The same launch with arguments; an integer among ``values`` is a buffer's index."""
        arguments = tuple(arena.places[v].offset if isinstance(v, int) else v for v in values)
        return dataclasses.replace(
            self, arguments=arguments, arena_bytes=arena.size, denied=tuple(arena.denied)
        )


@dataclass(frozen=True)
class Group:
    """Threads of a block that wait at one barrier (``site``), or have ended (None)."""

    site: int | None
    count: int
    first: int  # rank of one of them


@dataclass(frozen=True)
class Ran:
    """The answer: how the launch went. ``traps``: (block's rank, thread's rank, site)."""

    outcome: int
    seconds: float
    threads: int
    trap_count: int
    traps: list[tuple[int, int, int]]
    block_rank: int = 0  # of the block that ended the launch
    groups: list[Group] = field(default_factory=list)
    damaged: str = ""  # the shared memory written out of bounds
    damaged_size: int = 0
    damaged_byte: int = 0  # relative to its start
    heap_traps: int = 0  # threads that trapped after the heap had too little for them
    heap_asked: int = 0  # bytes that the last of them wanted
    heap_used: int = 0  # bytes in use at the end


class Closed(Exception):
    """The other end is gone."""


def send(end: socket.socket, message: Any, fds: tuple[int, ...] = ()) -> None:
    """Sends one message, with file descriptors. Raises :class:`Closed`."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    try:
        socket.send_fds(end, [_LENGTH.pack(len(data))], list(fds))
        end.sendall(data)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise Closed from error


def receive(end: socket.socket) -> tuple[Any, list[int]]:
    """Waits for one message; gives it and its descriptors. Raises :class:`Closed`."""
    try:
        head, fds, _, _ = socket.recv_fds(end, _LENGTH.size, 4)
        while head and len(head) < _LENGTH.size:
            head += _some(end, _LENGTH.size - len(head))
        if not head:
            raise Closed
        (length,) = _LENGTH.unpack(head)
        parts: list[bytes] = []
        while length:
            parts.append(_some(end, min(length, 1 << 20)))
            length -= len(parts[-1])
    except ConnectionResetError as error:
        raise Closed from error
    return pickle.loads(b"".join(parts)), list(fds)


def _some(end: socket.socket, most: int) -> bytes:
    data = end.recv(most)
    if not data:
        raise Closed
    return data

"""The process that runs kernels: prepares one module, then launches what it is asked.

Started by ``process.py`` with two inherited descriptors: its end of the socket pair and the
file of the runner's state. A wild kernel ends this process and nothing else.
"""

from __future__ import annotations

import ctypes
import os
import random
import resource
import signal
import socket
import time
from array import array

from fatcrate.lto.cpu import errors, jit, state, wire
from fatcrate.lto.cpu.memory import PAGE, Mapping, Stacks, round_up
from fatcrate.lto.cpu.prepare import RUN, Entry, Prepared, prepare
from fatcrate.lto.cpu.state import SHARED_GUARD, Fiber, Outcome, Shared, State, Status
from fatcrate.lto.engine import EngineError
from fatcrate.lto.llvm import LlvmliteEngine
from fatcrate.toolchain.diagnostics import Diagnostic, FatcrateError
from fatcrate.toolchain.errors import from_os_error

_PR_SET_PDEATHSIG = 1
#: Blocks per call into the scheduler.
_CHUNK = 1 << 16
#: Dynamic shared memory begins so far behind a page boundary.
_DYNAMIC_LEAD = 256


class Runner:
    """A prepared module and the memory of its launches."""

    def __init__(self, request: wire.Load, state_fd: int) -> None:
        """Raises :class:`EngineError` or :class:`FatcrateError`."""
        self._state_memory = Mapping(ctypes.sizeof(State), state_fd)
        self.state = State.from_address(self._state_memory.address)
        host = jit.host(request.host_level)
        self.prepared: Prepared = prepare(
            LlvmliteEngine(),
            request.linked,
            request.stage,
            request.opt_level,
            self._state_memory.address,
            host,
        )
        self._code = jit.Code(self.prepared.module, host, self.prepared.symbols)
        run = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64)
        self._run = run(self._code.function(RUN))
        self._stacks: Stacks | None = None
        self._keep: list[object] = []  # what the state points to

    def launch(self, request: wire.Launch, arena_fd: int) -> wire.Ran:
        """Runs one launch to its end or its first fault."""
        entry = self.prepared.entries[request.kernel]
        arena = Mapping(request.arena_bytes, arena_fd)
        dynamic = Mapping(PAGE + _DYNAMIC_LEAD + request.dynamic_bytes + PAGE)
        try:
            for offset, size in request.denied:
                arena.deny(offset, size)
            self._keep = []
            self._fill(request, entry, arena.address, dynamic.address + _DYNAMIC_LEAD)
            return self._result(entry, *self._blocks(request))
        finally:
            arena.close()
            dynamic.close()

    def _fill(self, request: wire.Launch, entry: Entry, arena: int, dynamic: int) -> None:
        """Writes the launch into the state."""
        s = self.state
        count = request.block[0] * request.block[1] * request.block[2]
        heap_used = s.heap_used  # the heap outlives a launch, as on a GPU
        ctypes.memset(ctypes.addressof(s), 0, ctypes.sizeof(s))
        s.heap_used, s.heap_bytes = heap_used, request.heap_bytes
        s.block_dim[:] = request.block
        s.grid_dim[:] = request.grid
        s.dynamic_bytes = request.dynamic_bytes
        s.threads = count
        s.lenient = request.lenient
        s.dynamic = dynamic
        fibers, order = (Fiber * count)(), array("I", range(count))
        s.fibers = ctypes.addressof(fibers)
        s.order = order.buffer_info()[0]
        stacks = self._stacks_for(count, request.stack_bytes)
        s.stacks, s.free_stacks = ctypes.addressof(stacks.free), stacks.count
        s.kernel = self._code.function(entry.symbol)
        block = _argument_block(entry, request.arguments, arena)
        s.arguments = ctypes.addressof(block)
        s.random = 0 if request.seed is None else (request.seed * 2 + 1) % (1 << 64)
        shared = self._shared(entry, request.dynamic_bytes)
        s.shared, s.shared_count = ctypes.addressof(shared), len(shared)
        self._keep += [fibers, order, block, shared]

    def _stacks_for(self, count: int, size: int) -> Stacks:
        if self._stacks is None or self._stacks.count < count or self._stacks.size != size:
            if self._stacks is not None:
                self._stacks.close()
            self._stacks = Stacks(count, round_up(size))
        self._stacks.reset()
        return self._stacks

    def _shared(self, entry: Entry, dynamic_bytes: int) -> ctypes.Array[Shared]:
        """All shared memory of a kernel with its guards; the dynamic one comes last."""
        table = (Shared * (len(entry.shared) + 1))()
        for slot, piece in zip(table, entry.shared, strict=False):
            slot.address = self._code.variable(piece.symbol) + piece.lead
            slot.bytes = piece.size + 2 * SHARED_GUARD
        table[-1].address = self.state.dynamic - SHARED_GUARD
        table[-1].bytes = dynamic_bytes + 2 * SHARED_GUARD
        return table

    def _blocks(self, request: wire.Launch) -> tuple[Outcome, float]:
        """Runs all blocks, in chunks so that signals are seen in between."""
        total = request.grid[0] * request.grid[1] * request.grid[2]
        shuffle = None if request.seed is None else random.Random(request.seed).shuffle
        begin = time.perf_counter()
        outcome = Outcome.DONE
        for first in range(0, total, _CHUNK):
            ranks = array("q", range(first, min(first + _CHUNK, total)))
            if shuffle is not None:
                shuffle(ranks)
            outcome = Outcome(self._run(ranks.buffer_info()[0], len(ranks)))
            if outcome != Outcome.DONE:
                break
        return outcome, time.perf_counter() - begin

    def _result(self, entry: Entry, outcome: Outcome, seconds: float) -> wire.Ran:
        s = self.state
        known = min(s.trap_count, state.TRAP_ROOM)
        traps = [(t.block, t.thread, t.site) for t in s.traps[:known]]
        common = (outcome, seconds, s.threads_done, s.trap_count, traps, s.block_rank)
        heap = {name: getattr(s, name) for name in ("heap_traps", "heap_asked", "heap_used")}
        ran = wire.Ran(*common, **heap)
        if outcome in (Outcome.SOME_ENDED, Outcome.TWO_BARRIERS):
            ran.groups.extend(self._groups())
        if outcome == Outcome.SHARED_DAMAGED:
            is_static = s.damaged_shared < len(entry.shared)
            name = entry.shared[s.damaged_shared].name if is_static else ""
            size = entry.shared[s.damaged_shared].size if is_static else s.dynamic_bytes
            return wire.Ran(
                *common,
                **heap,
                damaged=name,
                damaged_size=size,
                damaged_byte=s.damaged_byte - SHARED_GUARD,
            )
        return ran

    def _groups(self) -> list[wire.Group]:
        """The threads of the block that stopped: by barrier, and those that have ended."""
        fibers = (Fiber * self.state.threads).from_address(self.state.fibers)
        found: dict[int | None, list[int]] = {}
        for rank, fiber in enumerate(fibers):
            if fiber.status == Status.WAITING:
                found.setdefault(fiber.site, []).append(rank)
            elif fiber.status == Status.ENDED:
                found.setdefault(None, []).append(rank)
        return [wire.Group(site, len(ranks), ranks[0]) for site, ranks in found.items()]


def _argument_block(
    entry: Entry, arguments: tuple[bytes | int | None, ...], arena: int
) -> ctypes.Array[ctypes.c_char]:
    """The bytes that the kernel's entry unpacks."""
    size = max((o + s.size for o, s in zip(entry.offsets, entry.slots, strict=True)), default=0)
    data = bytearray(max(size, 1))
    for offset, slot, value in zip(entry.offsets, entry.slots, arguments, strict=True):
        if not isinstance(value, bytes):
            value = (0 if value is None else arena + value).to_bytes(8, "little")
        data[offset : offset + slot.size] = value
    return ctypes.create_string_buffer(bytes(data), len(data))


def _load(request: wire.Load, state_fd: int) -> Runner | wire.Refused:
    remedy = "build the target again; if it persists, report it with the linked module"
    try:
        return Runner(request, state_fd)
    except FatcrateError as error:
        return wire.Refused(error.diagnostics)
    except EngineError as error:
        text = f"LLVM refuses the module: {error}"
    except Exception as error:
        text = f"its code is not understood: {type(error).__name__}: {error}"
    return wire.Refused((Diagnostic(errors.NOT_RUNNABLE, request.name, text, remedy),))


def main(socket_fd: int, state_fd: int, parent: int) -> None:
    """The worker's life: one module, then launches until the parent hangs up."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the line above
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    end = socket.socket(fileno=socket_fd)
    try:
        request, _ = wire.receive(end)
        runner = _load(request, state_fd)
        if isinstance(runner, wire.Refused):
            wire.send(end, runner)
            return
        prepared = runner.prepared
        wire.send(end, wire.Loaded(prepared.entries, list(prepared.sites)))
        while True:
            launch, fds = wire.receive(end)
            try:
                wire.send(end, runner.launch(launch, fds[0]))
            except OSError as error:
                wire.send(end, wire.Refused((from_os_error(error),)))
            finally:
                os.close(fds[0])
    except wire.Closed:
        return

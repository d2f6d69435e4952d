"""Says in words what went wrong in a launch."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fatcrate.lto import symbols
from fatcrate.lto.cpu import errors, wire
from fatcrate.lto.cpu.arena import Damage
from fatcrate.lto.cpu.arguments import Plan, describe
from fatcrate.lto.cpu.process import Died
from fatcrate.lto.cpu.state import Outcome, State, position
from fatcrate.toolchain.diagnostics import Diagnostic
from fatcrate.toolchain.manifest import Kernel

_SHOWN = 8  # traps listed in full
_SHARED_SUFFIX = re.compile(r"(?:\.mem|\$2emem)?$")


def _at(block: wire.Dim, thread: wire.Dim) -> str:
    return f"block {block}, thread {thread}"


def trap_position(request: wire.Launch, block: int, thread: int) -> tuple[wire.Dim, wire.Dim]:
    """Indices of a block and of a thread in it, from their ranks."""
    return position(block, request.grid), position(thread, request.block)


def of_launch(
    kernel: Kernel,
    request: wire.Launch,
    ran: wire.Ran,
    sites: Sequence[object],
    allow_traps: bool,
) -> list[Diagnostic]:
    """The faults that the scheduler noticed."""
    found: list[Diagnostic] = []
    if ran.trap_count and not allow_traps:
        found.append(_trapped(kernel, request, ran, sites))
    if ran.outcome in (Outcome.SOME_ENDED, Outcome.TWO_BARRIERS):
        found.append(_diverged(kernel, request, ran, sites))
    if ran.outcome == Outcome.SHARED_DAMAGED:
        found.append(_shared_damaged(kernel, request, ran))
    return found


def _trapped(
    kernel: Kernel, request: wire.Launch, ran: wire.Ran, sites: Sequence[object]
) -> Diagnostic:
    notes = [
        f"{_at(*trap_position(request, block, thread))}, in {sites[site]}"
        for block, thread, site in ran.traps[:_SHOWN]
    ]
    if ran.trap_count > _SHOWN:
        notes.append(f"and {ran.trap_count - _SHOWN} more")
    count = "a thread" if ran.trap_count == 1 else f"{ran.trap_count} threads"
    if ran.heap_traps:
        return Diagnostic(
            errors.NO_HEAP,
            kernel.name,
            f"{count} trapped; {ran.heap_traps} of them had asked the device's heap for more than"
            f" it has, such as {ran.heap_asked} bytes",
            "allocate less, or give it more (--heap-bytes, heap_bytes=; on a GPU"
            " cuCtxSetLimit with CU_LIMIT_MALLOC_HEAP_SIZE)",
            notes=(f"{ran.heap_used} of {request.heap_bytes} bytes are in use", *notes),
        )
    return Diagnostic(
        errors.TRAPPED,
        kernel.name,
        f"{count} trapped: a panic or gpu::trap()",
        "mend the kernel, or allow traps (--allow-traps, allow_traps=True)",
        notes=tuple(notes),
    )


def _diverged(
    kernel: Kernel, request: wire.Launch, ran: wire.Ran, sites: Sequence[object]
) -> Diagnostic:
    block = position(ran.block_rank, request.grid)
    notes = []
    for group in ran.groups:
        thread = position(group.first, request.block)
        verb = (
            "have returned"
            if group.site is None
            else f"wait at the barrier in {sites[group.site]}"
            + (f" (call {group.site})" if ran.outcome == Outcome.TWO_BARRIERS else "")
        )
        notes.append(f"{group.count} of its threads {verb}, such as thread {thread}")
    what = "some have returned" if ran.outcome == Outcome.SOME_ENDED else "they wait at several"
    return Diagnostic(
        errors.DIVERGED,
        kernel.name,
        f"the threads of block {block} do not reach a barrier together: {what}",
        "let every thread of the block pass the same barriers",
        notes=tuple(notes),
    )


def _shared_damaged(kernel: Kernel, request: wire.Launch, ran: wire.Ran) -> Diagnostic:
    block = position(ran.block_rank, request.grid)
    if ran.damaged:
        path = symbols.demangle(_SHARED_SUFFIX.sub("", ran.damaged))
        owner = path.removesuffix("::__fatcrate_shared")
        what = f"the shared memory made in `{owner}`"
    else:
        what = "the dynamic shared memory"
    return Diagnostic(
        errors.OUT_OF_BOUNDS,
        kernel.name,
        f"block {block} wrote byte {ran.damaged_byte} of {what}, which has {ran.damaged_size}",
        "check the indices"
        if ran.damaged_size
        else "give the launch shared memory (--shared-bytes, shared_bytes=)",
    )


def of_buffers(kernel: Kernel, plan: Plan, damages: Sequence[Damage]) -> list[Diagnostic]:
    """Writes into the guard bands of buffers."""
    found: list[Diagnostic] = []
    for damage in damages:
        array = plan.arrays[damage.buffer]
        parameter = kernel.parameters[plan.values.index(damage.buffer)]
        size = array.itemsize or 1
        side = "before its start" if damage.offset < 0 else "behind its end"
        element = damage.offset // size
        found.append(
            Diagnostic(
                errors.OUT_OF_BOUNDS,
                kernel.name,
                f"wrote out of bounds of the buffer for {describe(parameter)}: element {element}"
                f" of {array.size} ({array.dtype}), byte offset {element * size}, {side}",
                "check the indices against the length",
                notes=(f"{damage.count} bytes around the buffer have changed",),
            )
        )
    return found


def of_death(
    kernel: Kernel, request: wire.Launch, death: Died, state: State, timeout: float | None
) -> Diagnostic:
    """The worker crashed or was ended."""
    where = _at(*trap_position(request, state.block_rank, state.rank))
    if death.timed_out:
        return Diagnostic(
            errors.TIMED_OUT,
            kernel.name,
            f"did not finish within {timeout:g} s; {where} was running",
            "look for a loop without end, or give it more time (--timeout, timeout=)",
            notes=(f"{state.threads_done} threads had finished",),
        )
    how = f"was ended by {death.signal}" if death.signal else "exited"
    return Diagnostic(
        errors.CRASHED,
        kernel.name,
        f"the process that ran it {how} in {where}",
        "look for a pointer far out of bounds, or for deep recursion (a thread has"
        f" {request.stack_bytes // 1024} KiB of stack)",
        notes=tuple(death.noise),
    )

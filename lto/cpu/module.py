"""The public interface: linked modules whose kernels run on the CPU."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, get_args

import numpy as np
from fatcrate.lto.cpu import errors, faults, wire
from fatcrate.lto.cpu.arena import GUARD_BYTES, Arena
from fatcrate.lto.cpu.arguments import Argument, check_elements, plan, with_types
from fatcrate.lto.cpu.prepare import STAGES, Entry, Stage, machine
from fatcrate.lto.cpu.process import Died, Worker
from fatcrate.toolchain import manifest as manifests
from fatcrate.toolchain.diagnostics import Diagnostic, FatcrateError, fail
from fatcrate.toolchain.manifest import Kernel, Manifest

Divergence = Literal["error", "allow"]
DIVERGENCES: tuple[Divergence, ...] = get_args(Divergence)

#: A number of blocks or threads: in x, or in x and y, or in all three dimensions.
Size = int | tuple[int] | tuple[int, int] | tuple[int, int, int]

IN_ORDER = "in-order"
STACK_BYTES = 256 * 1024
TIMEOUT = 60.0
HEAP_BYTES = 8 << 20  # CUDA's default for CU_LIMIT_MALLOC_HEAP_SIZE

_GRID_LIMITS = (2**31 - 1, 65535, 65535)
_BLOCK_LIMITS = (1024, 1024, 64)
_BLOCK_THREADS = 1024
_SHARED_LIMIT = 227 * 1024
_HOST_LEVELS: dict[Stage, int] = {"unoptimised": 1, "linked": 2}


@dataclass(frozen=True)
class Trap:
    """A thread that panicked or called ``gpu::trap()``, and where in the device code."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    where: str


@dataclass(frozen=True)
class Result:
    """How a launch went."""

    kernel: str
    blocks: int
    threads: int
    seconds: float  # in the kernel, preparations not counted
    traps: tuple[Trap, ...]  # the first 64, when they are allowed
    trap_count: int


def _dims(what: str, size: Size, limits: tuple[int, int, int]) -> wire.Dim:
    given = (size,) if isinstance(size, int | np.integer) else tuple(size)
    if not 1 <= len(given) <= 3 or not all(isinstance(n, int | np.integer) for n in given):
        fail(
            errors.BAD_LAUNCH,
            what,
            f"{size!r} is not one to three numbers",
            remedy=f"write {what}=4, {what}=(4, 2) or {what}=(4, 2, 1)",
        )
    x, y, z = (*(int(n) for n in given), 1, 1)[:3]
    for axis, number, limit in zip("xyz", (x, y, z), limits, strict=True):
        if not 1 <= number <= limit:
            fail(
                errors.BAD_LAUNCH,
                what,
                f"{number} in dimension {axis} is outside of 1 to {limit}",
            )
    return x, y, z


def parse_schedule(text: str) -> int | None:
    """The seed in ``shuffled:SEED``, or None for ``in-order``. Raises FC0601."""
    if text == IN_ORDER:
        return None
    kind, _, seed = text.partition(":")
    if kind == "shuffled" and seed.isascii() and seed.isdigit():
        return int(seed)
    fail(
        errors.BAD_LAUNCH,
        "schedule",
        f"{text!r} is no schedule",
        remedy="write in-order, or shuffled:SEED with a number, such as shuffled:7",
    )


class Module:
    """A linked module, ready to launch kernels on the CPU.

    ``linked`` is a file that ``fatcrate link`` wrote (or its bytes), ``manifest`` the manifest
    of the same link. ``stage`` chooses the code that runs: ``"unoptimised"``, the crates'
    bitcode as merged, or ``"linked"``, the same after the optimiser that CODEGEN uses, at
    ``opt_level`` (``"0"`` to ``"3"``, ``"s"``, ``"z"``).

    Kernels run in a process of their own, started at the first launch and kept: statics of
    the device code keep their values between launches, as on a GPU. Use the module in a
    ``with`` statement, or call :meth:`close`.

    Raises FC0610 to FC0612, FC0220 for a bad manifest, and ``OSError``.
    """

    def __init__(
        self,
        linked: str | os.PathLike[str] | bytes,
        manifest: str | os.PathLike[str] | Manifest,
        *,
        stage: Stage = "linked",
        opt_level: str = "3",
    ) -> None:
        machine()
        if stage not in STAGES:
            raise ValueError(f"stage must be one of {', '.join(STAGES)}, not {stage!r}")
        if isinstance(linked, bytes):
            self._linked = linked
        else:
            with open(linked, "rb") as stream:
                self._linked = stream.read()
        self.manifest = manifest if isinstance(manifest, Manifest) else manifests.load(manifest)
        self.stage: Stage = stage
        self.opt_level = opt_level
        self._worker: Worker | None = None
        self._loaded: wire.Loaded | None = None

    @property
    def kernels(self) -> list[str]:
        """Names of the kernels, sorted."""
        return sorted(k.name for k in self.manifest.kernels)

    def launch(
        self,
        name: str,
        *,
        grid: Size,
        block: Size,
        args: Sequence[Argument] = (),
        types: Sequence[str] = (),
        shared_bytes: int = 0,
        schedule: str = IN_ORDER,
        timeout: float | None = TIMEOUT,
        allow_traps: bool = False,
        divergence: Divergence = "error",
        stack_bytes: int = STACK_BYTES,
        guard_bytes: int = GUARD_BYTES,
        heap_bytes: int = HEAP_BYTES,
    ) -> Result:
        """Runs a kernel and writes the arrays in ``args`` back, except read-only ones.

        ``args`` has a value for each machine parameter, in order: an int or float for a scalar,
        a NumPy array (or None, a null pointer) for a pointer. ``types``, the parameters' Rust
        types such as ``["u32", "*const f32"]``, are checked against; without them those of the
        manifest, or the size of the elements that the code indexes. ``shared_bytes`` is the size
        of dynamic shared memory. ``schedule`` is the order in which threads and blocks take
        turns: ``"in-order"`` or ``"shuffled:SEED"``. ``timeout`` is in seconds.

        Shared memory is filled with 0xFF before each block; the heap keeps what a launch does
        not free. Raises :class:`FatcrateError` when the launch does not fit (FC0601 to FC0603), a
        thread traps (FC0604, unless ``allow_traps``; FC0616 after an allocation beyond
        ``heap_bytes``), threads diverge at a barrier (FC0605, unless ``divergence`` is
        ``"allow"``), memory beside a buffer was written (FC0606), the kernel crashes (FC0607),
        takes too long (FC0608), or reaches what the CPU does not have (FC0609). The arrays are
        unchanged then.
        """
        kernel = with_types(self._kernel(name), types) if types else self._kernel(name)
        dims = _dims("grid", grid, _GRID_LIMITS), _dims("block", block, _BLOCK_LIMITS)
        _check_block(kernel, dims[1], shared_bytes, divergence)
        request = wire.Launch(
            name,
            *dims,
            dynamic_bytes=shared_bytes,
            stack_bytes=stack_bytes,
            seed=parse_schedule(schedule),
            lenient=divergence == "allow",
            heap_bytes=heap_bytes,
        )
        planned = plan(kernel, args)
        entry = self._start(kernel, timeout)
        check_elements(kernel, planned, entry.elements)
        arena = Arena(planned.arrays, guard_bytes)
        with contextlib.closing(arena):
            request = request.with_arguments(planned.values, arena)
            ran = self._run(kernel, request, arena.fd, timeout)
            found = faults.of_launch(kernel, request, ran, self._sites(), allow_traps)
            found += faults.of_buffers(kernel, planned, arena.damages())
            if found:
                raise FatcrateError(*found)
            arena.write_back(planned.arrays)
        return self._result(request, ran)

    def close(self) -> None:
        """Ends the process that runs the kernels. A later launch starts another."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None
            self._loaded = None

    def __enter__(self) -> Module:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_worker", None) is not None:
            self.close()

    def _kernel(self, name: str) -> Kernel:
        kernel = self.manifest.kernel(name)
        if kernel is None:
            fail(
                errors.UNKNOWN_KERNEL,
                name,
                f"{self.manifest.name} has no such kernel",
                remedy=f"{nearest(name, self.kernels)}kernels: {', '.join(self.kernels)}"
                if self.kernels
                else "",
            )
        return kernel

    def _sites(self) -> list[object]:
        return list(self._loaded.sites) if self._loaded else []

    def _result(self, request: wire.Launch, ran: wire.Ran) -> Result:
        traps = tuple(
            Trap(*faults.trap_position(request, block, thread), str(self._sites()[site]))
            for block, thread, site in ran.traps
        )
        grid = request.grid
        blocks = grid[0] * grid[1] * grid[2]
        return Result(request.kernel, blocks, ran.threads, ran.seconds, traps, ran.trap_count)

    def _start(self, kernel: Kernel, timeout: float | None) -> Entry:
        """Starts the worker if need be; checks that the kernel can run."""
        if self._loaded is None:
            self._load(timeout)
        assert self._loaded is not None
        entry = self._loaded.entries.get(kernel.name)
        if entry is None or [(s.cls, s.size) for s in entry.slots] != [
            (p.cls, p.size) for p in kernel.parameters
        ]:
            fail(
                errors.MISMATCH,
                kernel.name,
                "the module defines it otherwise than the manifest says"
                if entry
                else "the manifest names it, but the module does not define it",
                remedy="give the module and the manifest of one link",
            )
        if entry.refused:
            raise FatcrateError(
                *(
                    Diagnostic(
                        errors.UNSUPPORTED,
                        kernel.name,
                        f"reaches {reason}",
                        "guard it with `gpu::has(...)`, or use the device library",
                    )
                    for reason in entry.refused
                )
            )
        return entry

    def _load(self, timeout: float | None) -> None:
        worker = Worker()
        try:
            request = wire.Load(
                self.manifest.name,
                self._linked,
                self.stage,
                self.opt_level,
                _HOST_LEVELS[self.stage],
            )
            answer = worker.ask(request, timeout=timeout)
        except Died as death:
            worker.close()
            fail(
                errors.NOT_RUNNABLE,
                self.manifest.name,
                "preparing the module took too long"
                if death.timed_out
                else f"LLVM ended while it prepared the module ({death.signal or 'exited'})",
                remedy="report it with the linked module",
                notes=death.noise,
            )
        if isinstance(answer, wire.Refused):
            worker.close()
            raise FatcrateError(*answer.diagnostics)
        self._worker, self._loaded = worker, answer

    def _run(
        self, kernel: Kernel, request: wire.Launch, arena_fd: int, timeout: float | None
    ) -> wire.Ran:
        worker = self._worker
        assert worker is not None
        try:
            answer = worker.ask(request, (arena_fd,), timeout)
        except Died as death:
            fault = faults.of_death(kernel, request, death, worker.state(), timeout)
            self.close()
            raise FatcrateError(fault) from None
        except BaseException:
            self.close()
            raise
        if isinstance(answer, wire.Refused):
            raise FatcrateError(*answer.diagnostics)
        ran: wire.Ran = answer
        return ran


def nearest(name: str, known: Sequence[str]) -> str:
    """``did you mean 'demo'? `` with a blank behind it, or nothing."""
    import difflib

    near = difflib.get_close_matches(name, known, 1)
    return f"did you mean '{near[0]}'? " if near else ""


def _check_block(kernel: Kernel, block: wire.Dim, shared_bytes: int, divergence: str) -> None:
    if divergence not in DIVERGENCES:
        raise ValueError(f"divergence must be error or allow, not {divergence!r}")
    threads = block[0] * block[1] * block[2]
    if threads > _BLOCK_THREADS:
        fail(
            errors.BAD_LAUNCH,
            kernel.name,
            f"a block of {threads} threads; the limit is {_BLOCK_THREADS}",
        )
    if shared_bytes < 0 or shared_bytes + kernel.static_shared > _SHARED_LIMIT:
        fail(
            errors.BAD_LAUNCH,
            kernel.name,
            f"{shared_bytes} bytes of dynamic and {kernel.static_shared} of static shared"
            f" memory; a block has at most {_SHARED_LIMIT}",
        )

"""The part of CODEGEN that runs on LLVM."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fatcrate.lto import (
    atomics,
    errors,
    isolate,
    pipeline,
    places,
    policy,
    split,
    timing,
)
from fatcrate.lto.engine import Choice, Engine, EngineError, Module, Target, Tuning
from fatcrate.lto.options import start
from fatcrate.toolchain import arch as archs
from fatcrate.toolchain import atomic
from fatcrate.toolchain.diagnostics import fail


class Job(NamedTuple):
    """One module for one arch."""

    linked: bytes
    file: str  # for messages
    arch: archs.Arch
    target: Target
    tuning: Tuning
    policy: policy.Policy
    engine: Choice = Choice()
    emit: str = "asm"  # or "llvm-ir": the optimised module
    number_places: bool = False  # see places.py
    trace: str = ""  # file for a time trace
    remarks: str = ""  # file for LLVM's remarks


def _parsed(engine: Engine, job: Job) -> Module:
    remarks = timing.REMARK_OPTIONS if job.remarks else ()
    engine.set_options([*job.policy.llvm_options(), *remarks])
    module = engine.parse_bitcode(job.linked)
    if job.policy.edits(job.linked):
        module = engine.parse_text(job.policy.apply(module.text()))
    return module


def optimised(engine: Engine, job: Job) -> Module:
    """The job's module after the optimiser."""
    module = _parsed(engine, job)
    pipeline.optimise(engine, module, job.arch, job.target, job.tuning)
    return module


class Limits(NamedTuple):
    """How many processes at a time, and for how many seconds each may run."""

    workers: int = 1
    timeout: float = isolate.DEFAULT_TIMEOUT


def _text(engine: Engine, module: Module, job: Job, limits: Limits) -> str | isolate.Failed:
    """What the job asks for, of an optimised module, which is used up."""
    text = module.text()
    if (completed := atomics.rewrite(text)) is not None:
        module = engine.parse_text(completed)
        engine.run_passes(module, ["always-inline", "globaldce"], job.target)
        text = module.text()
    if job.emit == "llvm-ir":
        return text
    if job.number_places:
        numbered, table = places.number(text)
        return engine.emit(engine.parse_text(numbered), job.target) + table
    parts = split.split(text)
    if len(parts) == 1:
        return engine.emit(module, job.target)
    return _emit_parts(engine, parts, job, limits)


def _emit_parts(
    engine: Engine, parts: Sequence[str], job: Job, limits: Limits
) -> str | isolate.Failed:
    """PTX of a module's parts, each generated in a process of its own."""

    def emit(part: str) -> tuple[str, str]:
        return engine.emit(engine.parse_text(part), job.target), timing.own_stderr()

    found = isolate.run_all(
        [functools.partial(emit, part) for part in parts],
        workers=limits.workers,
        timeout=limits.timeout,
        need=memory_need(max(map(len, parts)) // 8),  # bitcode is about so much smaller
    )
    made = []
    for each in found:
        if isinstance(each, isolate.Failed):
            return each
        ptx, said = each
        made.append(ptx)
        os.write(2, said.encode())  # remarks
    return split.join(made)


def generate(job: Job, limits: Limits | None = None) -> str | isolate.Failed:
    """PTX text, or textual IR where the job says so; runs LLVM in this process."""
    recorder = timing.Recorder()
    with recorder.phase("start LLVM"):
        engine = start(job.engine)
    try:
        with recorder.phase("read the module"):
            module = _parsed(engine, job)
        pipeline.optimise(engine, module, job.arch, job.target, job.tuning, phase=recorder.phase)
        with recorder.phase("generate code"):
            text = _text(engine, module, job, limits or Limits())
    except EngineError as error:
        fail(errors.BAD_BITCODE, job.file, str(error), remedy="link the target again")
    if job.trace:
        atomic.write_text(job.trace, recorder.to_json())
    if job.remarks:
        atomic.write_text(job.remarks, timing.remarks_yaml(timing.own_stderr()))
    return text


def memory_need(size: int) -> int:
    """Bytes of memory that code generation takes for ``size`` bytes of linked bitcode.

    Measured with both engines on modules of 9 to 130 kB: 82 MB, and 57 bytes for each byte.
    """
    return (96 << 20) + 64 * size


def generate_all(
    jobs: Sequence[Job], *, workers: int, timeout: float, sharing: bool = True
) -> list[str | isolate.Failed]:
    """PTX of one module for several archs; each is generated in a process of its own.

    LLVM is loaded and the module read once. Where ``share.py`` allows it, the PTX of the
    first real arch serves the others that have the same PTX ISA.
    """
    if len(jobs) == 1:
        limits = Limits(workers, timeout)
        return isolate.run_all([lambda: generate(jobs[0], limits)], workers=1, timeout=timeout)

    from fatcrate.lto import share  # its expressions take a while to compile

    def parsed(engine: Engine) -> Module:
        try:
            return _parsed(engine, jobs[0])
        except EngineError as error:
            fail(errors.BAD_BITCODE, jobs[0].file, str(error), remedy="link the target again")

    def work() -> list[str | isolate.Failed]:
        engine = start(jobs[0].engine)
        module = parsed(engine)

        def emit(job: Job, workers: int) -> str | isolate.Failed:
            pipeline.optimise(engine, module, job.arch, job.target, job.tuning)
            return _text(engine, module, job, Limits(workers, timeout))

        done: dict[int, str | isolate.Failed] = {}
        if sharing and jobs[0].emit == "asm" and share.module_allows(module.text()):
            done = _share(jobs, functools.partial(emit, workers=workers))
        rest = [(place, job) for place, job in enumerate(jobs) if place not in done]
        if done and rest:
            module = parsed(engine)  # the first arch used it up
        each = max(1, workers // max(1, len(rest)))
        found = isolate.run_all(
            [functools.partial(emit, job, each) for _, job in rest],
            workers=workers,
            timeout=timeout,
            need=memory_need(len(jobs[0].linked)),
        )
        done.update((place, result) for (place, _), result in zip(rest, found, strict=True))
        return [done[place] for place in range(len(jobs))]

    (outcome,) = isolate.run_all([work], workers=1, timeout=timeout * len(jobs))
    if not isinstance(outcome, isolate.Failed):
        return outcome
    late = isinstance(outcome.error, isolate.Crash) and outcome.error.timed_out
    if not sharing or late:
        return [outcome for _ in jobs]
    # What failed may be the arch that others were to share with: each tells for itself.
    return generate_all(jobs, workers=workers, timeout=timeout, sharing=False)


def _share(
    jobs: Sequence[Job], emit: Callable[[Job], str | isolate.Failed]
) -> dict[int, str | isolate.Failed]:
    """Results that follow from the first real arch's, by place; empty when none do.

    That is generated in this process: to fork once more would take as long as a small kernel.
    """
    alike = [p for p, job in enumerate(jobs) if not job.arch.is_ptx and not job.arch.suffix]
    alike = [p for p in alike if jobs[p].target.features == jobs[alike[0]].target.features]
    if len(alike) < 2:
        return {}
    from fatcrate.lto import share

    first = alike[0]
    ptx = emit(jobs[first])
    if isinstance(ptx, isolate.Failed) or not share.ptx_allows(ptx):
        return {first: ptx}
    return {place: share.retarget(ptx, jobs[place].arch.target_cpu) for place in alike}

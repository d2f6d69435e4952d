"""Why a worker of code generation ended, as the user reads it: reason, symbol and arch."""

from __future__ import annotations

import re

from fatcrate.lto import errors, internalize, isolate, symbols
from fatcrate.lto.generate import Job, optimised
from fatcrate.toolchain import manifest as manifests
from fatcrate.toolchain.diagnostics import Diagnostic

_REASON = re.compile(r"^(?:LLVM ERROR|error): (.*)$", re.MULTILINE)
_FUNCTION = re.compile(r"[Ii]n function:? '?\"?([\w$.]+)")
_INTRINSIC = re.compile(r"%?(llvm\.[\w.]+)")


def describe_crash(
    crash: isolate.Crash, job: Job, manifest: manifests.Manifest, timeout: float
) -> Diagnostic:
    """What LLVM's last words on stderr mean, with symbol and arch."""
    if crash.timed_out:
        return Diagnostic(
            errors.ENGINE_TIMEOUT,
            manifest.name,
            f"code generation for {job.arch} {crash.reason()}",
            "raise --timeout, or lower the optimisation level",
        )
    if remedy := isolate.remedy(crash.signal):
        return Diagnostic(
            errors.ENGINE_CRASH,
            manifest.name,
            f"the process that generates code for {job.arch} {crash.reason()}",
            remedy,
        )
    reason = _REASON.search(crash.stderr)
    intrinsic = _INTRINSIC.search(crash.stderr)
    found = culprits(crash, job, manifest, timeout)
    subject = symbols.demangle(found[0]) if found else manifest.name
    notes = [f"also in {symbols.describe(name)}" for name in found[1:4]]
    if found and found[0] != subject:
        notes.insert(0, f"symbol {found[0]}")
    if not reason:
        return Diagnostic(
            errors.ENGINE_CRASH,
            subject,
            f"the process that generates code for {job.arch} {crash.reason()}",
            "report it with the reproducer, and leave the kernel out for now"
            if found
            else "run it again; report it with the reproducer if it happens again",
            notes=(*notes, *crash.stderr.strip().splitlines()[-5:]),
        )
    if "unsupported library call" in reason[1]:
        return Diagnostic(
            errors.CODEGEN_FAILED,
            subject,
            f"LLVM cannot generate code for {job.arch}: an operation is left to a library "
            "routine that GPUs do not have, such as arithmetic and comparison of f128",
            "compute in f64, or keep such code out of kernels",
            notes=tuple(notes),
        )
    what = f"it does not have {intrinsic[1]}" if intrinsic else reason[1].strip()
    return Diagnostic(
        errors.CODEGEN_FAILED,
        subject,
        f"LLVM cannot generate code for {job.arch}: {what}",
        f"guard the code with `gpu::has(...)`, or drop {job.arch} from the target",
        notes=tuple(notes),
    )


def culprits(
    crash: isolate.Crash, job: Job, manifest: manifests.Manifest, timeout: float
) -> list[str]:
    """Functions for which LLVM cannot generate code; empty when that cannot be found out.

    LLVM names the function in some messages only. Else: the users of the intrinsic that it
    names; else the kernels that fail alone.
    """
    named = _FUNCTION.search(crash.stderr)
    if named:
        return [named[1]]
    intrinsic = _INTRINSIC.search(crash.stderr)
    if intrinsic:
        mark = f"@{intrinsic[1]}("

        def users() -> list[str]:
            module = optimised(job.engine.start(), job)
            return [f.name for f in module.functions() if not f.is_declaration and mark in f.text()]

        try:
            return isolate.run(users, timeout=timeout)
        except isolate.Crash:
            return []
    return _fails_alone([k.name for k in manifest.kernels], job, timeout)


def _fails_alone(kernels: list[str], job: Job, timeout: float) -> list[str]:
    """A kernel that cannot be generated, found by halves; none when it works this time.

    The optimiser runs once for all tries, unless it is what fails.
    """

    def prepare() -> bytes:
        return optimised(job.engine.start(), job).bitcode()

    ready: bytes | None
    try:
        ready = isolate.run(prepare, timeout=timeout)
    except isolate.Crash:
        ready = None
    while kernels and _fails(kernels, job, ready, timeout):
        if len(kernels) == 1:
            return kernels
        half = kernels[: len(kernels) // 2]
        kernels = half if _fails(half, job, ready, timeout) else kernels[len(half) :]
    return []


def _fails(kernels: list[str], job: Job, ready: bytes | None, timeout: float) -> bool:
    """Whether no code can be generated for some kernels and what they need.

    ``ready`` is the optimised module, where there is one.
    """

    def attempt() -> None:
        engine = job.engine.start()
        if ready is None:
            module = optimised(engine, job)
        else:
            engine.set_options(job.policy.llvm_options())
            module = engine.parse_bitcode(ready)
        internalize.internalize(module, kernels)
        internalize.collect(engine, module)
        engine.emit(module, job.target)

    try:
        isolate.run(attempt, timeout=timeout)
    except isolate.Crash:
        return True
    return False

"""Kernels and resources of a library over 500 MB, against cuobjdump -res-usage."""

from __future__ import annotations

from fatcrate.toolchain.discover import discover
from support import wheels

from bench import harness

ROUNDS = 7


def run() -> harness.Result:
    """libcublasLt, read from the page cache by both."""
    library = next(p for p in wheels.libraries("nvidia-cublas") if "cublasLt" in p.name)
    cuobjdump = discover().cuobjdump
    runs, mine, other = [], [], []
    with harness.workspace() as folder:
        harness.timed([cuobjdump, "-lelf", library], cwd=folder)
        for _ in range(ROUNDS):
            mine.append(
                harness.timed([harness.FATCRATE, "inspect", "--resources", library], cwd=folder)
            )
            other.append(harness.timed([cuobjdump, "-res-usage", library], cwd=folder))
            runs.append(mine[-1] / other[-1])
    a, b = harness.median(mine), harness.median(other)
    detail = {
        "ours_s": round(a, 2),
        "cuobjdump_s": round(b, 2),
        "library_mb": library.stat().st_size >> 20,
    }
    return harness.Result(a / b, runs, detail)


BENCH = harness.Bench(
    "inspect-vs-cuobjdump",
    "ratio",
    0.5,
    "whole command: registers, stack, shared and constant bytes of all kernels of libcublasLt",
    run,
)

"""A build with nothing to do, by Bazel with its server running."""

from __future__ import annotations

from bench import harness

COMMAND = ["bazel", "build", "//examples/saxpy:kernels"]


def run() -> harness.Result:
    """Builds twice, then times the whole command ten times."""
    first = harness.timed(COMMAND, cwd=harness.ROOT)
    harness.timed(COMMAND, cwd=harness.ROOT)
    runs = [harness.timed(COMMAND, cwd=harness.ROOT) for _ in range(10)]
    return harness.Result(harness.median(runs), runs, {"first_build_s": round(first, 2)})


BENCH = harness.Bench(
    "noop-bazel",
    "value",
    0.5,
    "whole `bazel build //examples/saxpy:kernels` command, server warm, nothing changed; seconds",
    run,
)

"""A build with nothing to do, by `fatcrate build`."""

from __future__ import annotations

from bench import harness, project


def run() -> harness.Result:
    """Builds once, then times the whole command fifteen times."""
    with harness.workspace() as folder:
        project.write(folder, crates=3, kernels=1, archs=["sm_80", "sm_90", "compute_90"])
        first = harness.build(folder)
        runs = [harness.build(folder) for _ in range(15)]
    return harness.Result(harness.median(runs), runs, {"first_build_s": round(first, 2)})


BENCH = harness.Bench(
    "noop-ninja",
    "value",
    0.15,
    "whole `fatcrate build` command when nothing changed: 4 crates, 3 images; seconds",
    run,
)

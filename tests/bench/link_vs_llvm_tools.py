"""Bitcode to PTX for two SMs with the llvmlite engine, against LLVM's own tools."""

from __future__ import annotations

import time

from bench import harness, lto_set

SIZES = (1, 5, 20, 100)


def measure(engine: str) -> harness.Result:
    """Per size the median ratio of interleaved runs; the figure is the worst size's."""
    ratios: dict[int, list[float]] = {}
    detail: dict[str, object] = {}
    for size in SIZES:
        with harness.workspace() as folder:
            made = lto_set.make(folder, size)
            ours, theirs = [], []
            for _ in range(5 if size < 100 else 3):
                begun = time.perf_counter()
                lto_set.link_ours(made, engine)
                middle = time.perf_counter()
                lto_set.link_tools(made)
                ours.append(middle - begun)
                theirs.append(time.perf_counter() - middle)
        ratios[size] = [a / b for a, b in zip(ours, theirs, strict=True)]
        detail[f"{size}_crates"] = round(harness.median(ratios[size]), 3)
        detail[f"{size}_s"] = f"{harness.median(ours):.2f}/{harness.median(theirs):.2f}"
    worst = max(SIZES, key=lambda size: harness.median(ratios[size]))
    return harness.Result(harness.median(ratios[worst]), ratios[worst], detail)


def run() -> harness.Result:
    return measure("llvmlite")


BENCH = harness.Bench(
    "link-vs-llvm-tools",
    "ratio",
    1.7,
    "crates' bitcode to PTX for sm_80 and sm_90: `fatcrate link` and `fatcrate codegen`"
    " (llvmlite) ÷ llvm-link, then opt and llc; two workers on both sides; worst of"
    f" {', '.join(map(str, SIZES))} crates",
    run,
)

"""Machine code of twelve kernels in Rust and in CUDA C++: instructions and registers.

No contraction on either side, no unrolling (`#pragma unroll 1`, ``--no-unroll``), raw pointers.
"""

from __future__ import annotations

import math
import re
import subprocess
from pathlib import Path

from fatcrate.toolchain.discover import Tools, discover
from support.device import Workshop

from bench import harness, nvcc

ARCH = "sm_90"
KERNELS = Path(__file__).parent / "kernels"


def instructions(tools: Tools, cubin: Path) -> dict[str, int]:
    """Kernel -> SASS instructions without the padding."""
    text = subprocess.run(
        [tools.nvdisasm, "-c", cubin], capture_output=True, text=True, check=True
    ).stdout
    counts: dict[str, int] = {}
    name = ""
    for line in text.splitlines():
        if match := re.match(r"\.text\.(\w+):", line):
            name = match[1]
            counts[name] = 0
        elif re.match(r"\s+/\*[0-9a-f]{4,}\*/", line) and "NOP" not in line:
            counts[name] += 1
    return counts


def _registers(tools: Tools, cubin: Path) -> dict[str, int]:
    text = subprocess.run(
        [tools.cuobjdump, "-res-usage", cubin], capture_output=True, text=True, check=True
    ).stdout
    return {m[1]: int(m[2]) for m in re.finditer(r"Function (\w+):\n\s*REG:(\d+)", text)}


def build(folder: Path) -> tuple[dict[str, int], dict[str, int], dict[str, int], dict[str, int]]:
    """Instructions and registers per kernel: ours, then nvcc's."""
    tools = discover()
    shop = Workshop(tools, folder)
    root = KERNELS.parent.parent.parent
    steps = [shop.gpu(root), shop.compile("sass", KERNELS / "sass.rs", deps=["gpu"])]
    steps += [shop.link("sass"), shop.codegen("sass", ARCH, "3", "--no-unroll")]
    steps += [shop.assemble("sass", ARCH)]
    for step in steps:
        if step.code:
            raise SystemExit(f"bench: {step.stderr}")
    ours = folder / f"sass.{ARCH}.cubin"
    theirs = folder / "nvcc.cubin"
    options = ["-cubin", f"-arch={ARCH}", "-fmad=false", "-O3"]
    nvcc.compile(folder, str(KERNELS / "sass.cu"), str(theirs), options)
    return (
        instructions(tools, ours),
        _registers(tools, ours),
        instructions(tools, theirs),
        _registers(tools, theirs),
    )


def compare(which: int) -> harness.Result:
    """Geometric mean over kernels of ours ÷ nvcc's; 0: instructions, 1: registers."""
    with harness.workspace() as folder:
        found = build(folder)
    ours, theirs = found[which], found[which + 2]
    if set(ours) != set(theirs) or len(ours) != 12:
        raise SystemExit(f"bench: different kernels: {sorted(set(ours) ^ set(theirs))}")
    ratios = {name: ours[name] / theirs[name] for name in sorted(ours)}
    mean = math.exp(sum(math.log(r) for r in ratios.values()) / len(ratios))
    detail = {name: f"{ours[name]}/{theirs[name]}" for name in ratios}
    return harness.Result(mean, list(ratios.values()), detail)


BENCH = harness.Bench(
    "sass-vs-nvcc",
    "ratio",
    1.10,
    "SASS instructions of 12 kernels, Rust ÷ CUDA C++ by nvcc: geometric mean, sm_90, no"
    " contraction, no unrolling",
    lambda: compare(0),
)

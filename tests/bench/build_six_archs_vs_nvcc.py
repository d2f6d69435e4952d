"""Three units for six SMs and PTX to a host object, against nvcc."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from bench import harness, lto_set, nvcc
from bench.lto_vs_nvcc_dlto import CUDA_LIBRARY, CUDA_UNIT

UNITS = ("k000", "k001")  # and the library below them
SMS = (75, 80, 86, 89, 90, 120)
PTX = 90


def _rust(folder: Path) -> None:
    (folder / "library.rs").write_text(lto_set.LIBRARY, encoding="utf-8")
    crates = ["  library: {path: library.rs, edition: 2024}"]
    for number, name in enumerate(UNITS):
        text = lto_set.CRATE.replace("@", str(number))
        (folder / f"{name}.rs").write_text(text, encoding="utf-8")
        crates.append(f"  {name}: {{path: {name}.rs, edition: 2024, deps: [library]}}")
    archs = ", ".join([*(f"sm_{sm}" for sm in SMS), f"compute_{PTX}"])
    target = f"  all: {{crates: [{', '.join(UNITS)}], archs: [{archs}], host: [x86_64]}}"
    lines = ["version: 1", "crates:", *crates, "kernels:", target]
    (folder / "fatcrate.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _cuda(folder: Path) -> list[str]:
    (folder / "library.cu").write_text(CUDA_LIBRARY, encoding="utf-8")
    for number, name in enumerate(UNITS):
        (folder / f"{name}.cu").write_text(CUDA_UNIT.replace("@", str(number)), encoding="utf-8")
    return ["library", *UNITS]


def run_command(argv: Sequence[str], folder: Path) -> tuple[float, int]:
    """Seconds, and MiB of the largest process; ends the benchmark when the command fails."""
    begun = time.perf_counter()
    with (folder / "log").open("wb") as log:
        child = subprocess.Popen(
            argv, cwd=folder, stdout=log, stderr=log, env=nvcc.environment(folder)
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"bench: {argv[0]}: {(folder / 'log').read_text(errors='replace')}")
    return time.perf_counter() - begun, usage.ru_maxrss // 1024


def _nvcc(folder: Path, units: list[str], options: Sequence[str]) -> tuple[float, int]:
    codes = [f"-gencode=arch=compute_{sm},code=sm_{sm}" for sm in SMS]
    codes.append(f"-gencode=arch=compute_{PTX},code=compute_{PTX}")
    common = [str(nvcc.find("bin/nvcc")), f"-I{nvcc.find('include')}", *codes, *options]
    parts = [
        run_command(
            [*common, "-rdc=true", "-O3", "-fmad=false", "-c", *(f"{u}.cu" for u in units)], folder
        ),
        run_command(
            [*common, "-dlink", f"-L{nvcc.find('lib')}", *(f"{u}.o" for u in units), "-o", "all.o"],
            folder,
        ),
    ]
    return sum(p[0] for p in parts), max(p[1] for p in parts)


def run() -> harness.Result:
    """Clean builds by turns; nvcc's best of `-t 2` and `-t 2 --split-compile=2` counts."""
    with harness.workspace() as folder:
        _rust(folder)
        units = _cuda(folder)
        harness.build(folder)  # fills the sysroot cache
        ratios, ours, theirs = [], [], []
        for _ in range(3):
            shutil.rmtree(folder / "fatcrate-out")
            ours.append(run_command([str(harness.FATCRATE), "build", "-j", "2"], folder))
            plain = _nvcc(folder, units, ["-t", "2"])
            split = _nvcc(folder, units, ["-t", "2", "--split-compile=2"])
            theirs.append(min(plain, split))
            ratios.append(ours[-1][0] / theirs[-1][0])
    detail = {
        "ours_s": round(harness.median([t for t, _ in ours]), 2),
        "nvcc_s": round(harness.median([t for t, _ in theirs]), 2),
        "ours_largest_process_mib": max(m for _, m in ours),
        "nvcc_largest_process_mib": max(m for _, m in theirs),
    }
    return harness.Result(harness.median(ratios), ratios, detail)


BENCH = harness.Bench(
    "build-six-archs-vs-nvcc",
    "ratio",
    0.5,
    "`fatcrate build` of three crates to a host object, six SMs and PTX, clean, sysroot cached,"
    " two jobs ÷ `nvcc -rdc=true -t 2`, or with --split-compile=2 if that is quicker",
    run,
)

"""Occupancy against NVIDIA's public calculator, compiled from its header; budgets."""

from __future__ import annotations

import importlib.util
import random
import subprocess
from pathlib import Path

import pytest
from fatcrate.lto import budget, occupancy
from fatcrate.toolchain.arch import parse_one
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.discover import Tools

PROGRAM = r"""
#include <stdio.h>
#include "cuda_occupancy.h"
int main(void) {
  int major, minor, threads, block, regs, barriers;
  unsigned long shared_sm, optin, reserved, shared, dynamic;
  while (scanf("%d %d %d %lu %lu %lu %d %d %lu %lu %d", &major, &minor, &threads, &shared_sm,
               &optin, &reserved, &block, &regs, &shared, &dynamic, &barriers) == 11) {
    cudaOccDeviceProp p = {major, minor, 1024, threads, 65536, 65536, 32,
                           48 * 1024, shared_sm, 1, optin, reserved};
    cudaOccFuncAttributes f = {0};
    f.maxThreadsPerBlock = 1024;
    f.numRegs = regs;
    f.sharedSizeBytes = shared;
    f.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    f.maxDynamicSharedSizeBytes = dynamic;
    f.numBlockBarriers = barriers;
    cudaOccDeviceState s = {CACHE_PREFER_NONE, SHAREDMEM_CARVEOUT_DEFAULT};
    cudaOccResult r;
    int e = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &s, block, dynamic);
    printf("%d %d\n", e, e ? -1 : r.activeBlocksPerMultiprocessor);
  }
  return 0;
}
"""


def header() -> Path | None:
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for path in Path(folder).glob("*/include/cuda_occupancy.h"):
            return path
    return None


def test_agrees_with_nvidias_calculator(tools: Tools, tmp_path: Path, full: bool) -> None:
    include = header()
    if include is None:
        pytest.skip("the CUDA runtime headers are not installed")
    (tmp_path / "occ.c").write_text(PROGRAM)
    command = [tools.host_linker, "-O1", "-w", f"-I{include.parent}", "occ.c", "-o", "occ"]
    subprocess.run(command, cwd=tmp_path, check=True)
    rng = random.Random(7)
    cases = []
    for number, sm in occupancy.SMS.items():
        for _ in range(4000 if full else 400):
            cases.append(
                (
                    number,
                    sm,
                    rng.choice([1, 32, 33, 64, 96, 128, 192, 256, 384, 512, 768, 1000, 1024, 1056]),
                    rng.choice([0, 8, 16, 24, 31, 32, 40, 56, 64, 72, 96, 128, 168, 255, 256]),
                    rng.choice([0, 4, 100, 1024, 5000, 16384, 32768, 48 * 1024]),
                    rng.choice([0, 0, 0, 512, 4096, 40000, 60000, 99 * 1024, 227 * 1024]),
                    rng.choice([0, 1, 2, 7, 16]),
                )
            )
    lines = [
        f"{n // 10} {n % 10} {sm.threads} {sm.shared} {sm.shared_optin} {sm.reserved}"
        f" {block} {regs} {shared} {dynamic} {bars}"
        for n, sm, block, regs, shared, dynamic, bars in cases
    ]
    shown = subprocess.run(
        [tmp_path / "occ"], input="\n".join(lines), text=True, capture_output=True, check=True
    ).stdout.split("\n")
    compared = 0
    for case, line in zip(cases, shown, strict=False):
        number, _, block, regs, shared, dynamic, bars = case
        error, blocks = map(int, line.split())
        if error:
            continue
        mine = occupancy.occupancy(parse_one(f"sm_{number}"), block, regs, shared, dynamic, bars)
        assert mine is not None and mine.blocks == blocks, case
        compared += 1
    assert compared > len(cases) * 0.9


def test_an_unknown_sm_has_no_occupancy() -> None:
    assert occupancy.occupancy(parse_one("sm_999"), 128, 32, 0) is None


def kernel(**values: int) -> budget.Resources:
    return budget.Resources("k", **values)


def messages(resources: budget.Resources, *texts: str) -> list[str]:
    found = budget.check([resources], budget.parse(texts), parse_one("sm_90"))
    return [d.render() for d in found]


def test_budgets_that_hold() -> None:
    assert (
        messages(
            kernel(registers=32, stack=8, shared=64, spill_stores=4),
            "max_registers=32",
            "max_stack=8",
            "max_shared=64",
            "max_spill_bytes=4",
            "min_occupancy=1@256",
        )
        == []
    )


def test_budgets_that_do_not_hold() -> None:
    found = messages(
        kernel(registers=128, stack=9, shared=65, spill_stores=4, spill_loads=4),
        "max_registers=64",
        "max_stack=8",
        "max_shared=64",
        "k:max_spill_bytes=4",
        "min_occupancy=0.5@256",
    )
    assert found == [
        "error[FC0334]: k: takes 128 registers on sm_90, the budget allows 64\n"
        "  help: raise max_registers, or make the kernel smaller",
        "error[FC0334]: k: takes 9 bytes of stack on sm_90, the budget allows 8\n"
        "  help: raise max_stack, or make the kernel smaller",
        "error[FC0334]: k: takes 65 bytes of shared memory on sm_90, the budget allows 64\n"
        "  help: raise max_shared, or make the kernel smaller",
        "error[FC0334]: k: takes 8 bytes of spills on sm_90, the budget allows 4\n"
        "  help: raise max_spill_bytes, or make the kernel smaller",
        "error[FC0334]: k: reaches an occupancy of 0.25 on sm_90 in blocks of 256, the budget"
        " asks for 0.5\n  help: what bounds it: registers",
    ]


def test_a_kernels_own_budget_replaces_the_general_one() -> None:
    assert messages(kernel(registers=60), "max_registers=50", "k:max_registers=64") == []


def test_spills_are_warned_about() -> None:
    (found,) = messages(kernel(spill_stores=4, spill_loads=8))
    assert found.startswith("warning[FC0333]: k: spills registers on sm_90: 4 bytes of stores")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_register=3", "names no budget"),
        ("max_registers=many", "has no valid value"),
        ("max_registers=-1", "has no valid value"),
        ("max_registers=1@2", "has no valid value"),
        ("min_occupancy=0.5", "has no valid value"),
        ("min_occupancy=2@256", "has no valid value"),
        ("", "names no budget"),
    ],
)
def test_faulty_budgets(text: str, message: str) -> None:
    with pytest.raises(FatcrateError, match=message) as caught:
        budget.parse([text])
    assert caught.value.exit_code == 2


def test_a_budget_for_a_kernel_that_is_not_there() -> None:
    (found,) = messages(kernel(), "other:max_stack=1")
    assert "'other' is not a kernel of this image" in found

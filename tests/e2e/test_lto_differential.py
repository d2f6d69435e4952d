"""Sixty kernels linked by LLVM's own tools and by fatcrate, from the same bitcode.

Both must agree in kernels, resources and the number of SASS instructions. LLVM's tools get
the same order of phases: merge, internalise, default<O3>, generate. A difference that is known
is listed in :data:`EXPLAINED` with its reason.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from bench import lto_set
from fatcrate.lto import assemble
from fatcrate.toolchain.arch import parse_one

#: kernel prefix -> why its code may differ.
EXPLAINED: dict[str, str] = {}


@pytest.fixture(scope="module", params=["llvmlite", "libllvm"])
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> lto_set.CrateSet:
    try:
        lto_set.llvm_tool("llvm-link")
    except SystemExit as error:
        pytest.skip(str(error))
    crates = lto_set.make(tmp_path_factory.mktemp(request.param), 20)
    lto_set.link_ours(crates, request.param)
    lto_set.link_tools(crates)
    return crates


def assembled(made: lto_set.CrateSet, side: str, arch: str) -> tuple[dict[str, object], Path]:
    folder = made.shop.folder
    cubin = folder / f"{side}.{arch}.cubin"
    done = assemble.run_ptxas(
        made.tools.ptxas, parse_one(arch), str(folder / f"{side}.{arch}.ptx"), str(cubin), []
    )
    assert done.code == 0, done.output
    return {r.name: r for r in assemble.parse_resources(done.output)}, cubin


def sass(made: lto_set.CrateSet, cubin: Path) -> dict[str, int]:
    """Kernel -> instructions, without the padding."""
    assert made.tools.nvdisasm
    text = subprocess.run(
        [made.tools.nvdisasm, "-c", cubin], capture_output=True, text=True, check=True
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


@pytest.mark.parametrize("arch", lto_set.ARCHS)
def test_agrees_with_llvms_tools(made: lto_set.CrateSet, arch: str) -> None:
    ours, our_cubin = assembled(made, "ours", arch)
    theirs, their_cubin = assembled(made, "tools", arch)
    assert sorted(ours) == sorted(theirs) == sorted(made.kernels)
    assert len(ours) >= 60
    kept = [n for n in ours if not n.startswith(tuple(EXPLAINED))]
    assert {n: ours[n] for n in kept} == {n: theirs[n] for n in kept}
    if made.tools.nvdisasm:
        mine, reference = sass(made, our_cubin), sass(made, their_cubin)
        assert len(mine) >= 60 and min(mine.values()) > 5
        assert {n: mine[n] for n in kept} == {n: reference[n] for n in kept}

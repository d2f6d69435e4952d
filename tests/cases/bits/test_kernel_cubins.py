"""NVIDIA's disassembler reads the cubins of ``kernels/``."""

from __future__ import annotations

import subprocess

import pytest
from fatcrate import cpu
from support.listed import MODULES, Shelf

SOURCE = "tests/cases/kernels"
TARGETS = [m["target"] for m in MODULES if m["source"] == SOURCE]


@pytest.mark.parametrize("target", TARGETS)
def test_disassembler_reads_cubins(shelf: Shelf, target: str, full: bool) -> None:
    """Of each target one, of another architecture in turn; all with ``--full``."""
    _, manifest = shelf.files({"source": SOURCE, "target": target})
    cubins = sorted((manifest.parent / target).glob("*.cubin"))
    archs = ["sm_75", "sm_90", "sm_120"]
    wanted = archs if full else [archs[TARGETS.index(target) % 3]]
    assert {c.stem for c in cubins} == {*wanted}
    nvdisasm = shelf.tools.nvdisasm
    assert nvdisasm
    with cpu.Module(*shelf.files({"source": SOURCE, "target": target})) as module:
        names = module.kernels
    for cubin in cubins:
        done = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        for name in names:
            assert f".text.{name}" in done.stdout
        assert "EXIT" in done.stdout


def test_there_are_ten(shelf: Shelf) -> None:
    assert len(TARGETS) >= 10
    assert all((shelf.root / SOURCE / f"{target}.rs").exists() for target in TARGETS)

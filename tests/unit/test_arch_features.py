"""The table of features against ptxas: which architecture takes an instruction of each."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from fatcrate.toolchain import arch
from fatcrate.toolchain.discover import Tools

#: Feature -> an instruction that needs it.
INSTRUCTIONS = {
    "F16Arithmetic": "add.rn.f16 %h, %h, %h;",
    "DotProduct4": "dp4a.u32.u32 %r, %r, %r, %r;",
    "LdMatrix": "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r}, [tile];",
    "CpAsync": "cp.async.ca.shared.global [tile], [%d], 4;",
    "Bf16Arithmetic": "fma.rn.bf16 %h, %h, %h, %h;",
    "MBarrier": "mbarrier.init.shared.b64 [tile], 1;",
    "ReduxSync": "redux.sync.add.u32 %r, %r, 0xffffffff;",
    "Fp8Convert": "cvt.rn.f16x2.e4m3x2 %r, %h;",
    "Cluster": "barrier.cluster.arrive; barrier.cluster.wait;",
    "BulkCopy": "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    " [tile], [%d], 16, [tile];",
    "ElectSync": "elect.sync %r|%p, 0xffffffff;",
    "GridDependencyControl": "griddepcontrol.wait;",
    "StMatrix": "stmatrix.sync.aligned.m8n8.x1.shared.b16 [tile], {%r};",
    "Wgmma": "wgmma.fence.sync.aligned;",
    "SetMaxNReg": "setmaxnreg.inc.sync.aligned.u32 240;",
    "Tcgen05": "tcgen05.wait::ld.sync.aligned;",
    "PackedF32": "add.rn.f32x2 %d, %d, %d;",
}
HEAD = ".version 9.0\n.target {}\n.address_size 64\n.shared .align 16 .b8 tile[64];\n"
KERNEL = (
    ".visible .entry {}() .maxntid 128 {{ .reg .b16 %h; .reg .b32 %r; .reg .b64 %d; .reg .pred %p;"
    " mov.b16 %h, 0; mov.b32 %r, 0; mov.b64 %d, 0; {} ret; }}\n"
)
ARCHS = ["sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a"]
ARCHS += [f"sm_{n}{suffix}" for n in (100, 103, 110, 120, 121) for suffix in ("", "a", "f")]


def test_every_feature_has_an_instruction() -> None:
    assert list(INSTRUCTIONS) == [feature.name for feature in arch.FEATURES]


@pytest.mark.parametrize("name", ARCHS)
def test_ptxas_agrees(tools: Tools, tmp_path: Path, name: str) -> None:
    """Refused are exactly the lines whose feature the architecture has not."""
    first = HEAD.count("\n") + 1
    source = tmp_path / "features.ptx"
    kernels = [KERNEL.format(feature, text) for feature, text in INSTRUCTIONS.items()]
    source.write_text(HEAD.format(name) + "".join(kernels))
    done = subprocess.run(
        [tools.ptxas, f"-arch={name}", source, "-o", tmp_path / "features.cubin"],
        capture_output=True,
        text=True,
        check=False,
    )
    refused = {int(n) - first for n in re.findall(r", line (\d+); error", done.stderr)}
    assert (done.returncode == 0) == (not refused), done.stderr
    wanted = arch.parse_one(name)
    lacking = {f.name for f in arch.FEATURES if not arch.has_feature(wanted, f)}
    assert {list(INSTRUCTIONS)[line] for line in refused} == lacking

"""All architectures and levels, unoptimised crates: the instructions that are left."""

import re
from typing import Any

from fatcrate.toolchain import arch

INSTRUCTIONS = {
    "PackedF32": "add.rn.f32x2",
    "CpAsync": "cp.async.commit_group",
    "Bf16Arithmetic": "fma.rn.bf16",
    "ReduxSync": "redux.sync",
    "Fp8Convert": "cvt.rn.f16x2.e4m3x2",
    "Cluster": "barrier.cluster.arrive",
    "GridDependencyControl": "griddepcontrol.wait",
    "Wgmma": "wgmma.fence",
    "SetMaxNReg": "setmaxnreg.inc",
    "Tcgen05": "tcgen05.wait",
}
ARCHS = ["sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a"]
ARCHS += [f"sm_{n}{suffix}" for n in (100, 103, 110, 120, 121) for suffix in ("", "a", "f")]


def check(shop: Any, case: Any) -> None:
    features = {f.name: f for f in arch.FEATURES}
    also = [f"--also={name}={shop.folder}/also.{name}.ptx" for name in ARCHS[1:]]
    for level in ("0", "3"):
        outcome = shop.codegen("case", ARCHS[0], level, *also)
        assert outcome.code == 0, outcome.stderr
        for name in ARCHS:
            file = f"case.{name}.ptx" if name == ARCHS[0] else f"also.{name}.ptx"
            text = shop.text(file)
            for feature, instruction in INSTRUCTIONS.items():
                has = arch.has_feature(arch.parse_one(name), features[feature])
                assert bool(re.search(re.escape(instruction), text)) == has, (name, feature)

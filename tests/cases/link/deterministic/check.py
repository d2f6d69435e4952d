"""Bytes of every output, linked again from copies in another folder."""

import os
import shutil
from typing import Any


def check(shop: Any, case: Any) -> None:
    names = ["case.bc", "case.manifest.json", "case.link.json", "case.sm_80.ptx"]
    names += ["case.sm_80.cubin", "case.sm_80.json"]
    before = {name: (shop.folder / name).read_bytes() for name in names}
    other = shop.folder / "other folder"
    other.mkdir()
    crates = []
    for name, path in shop.crates.items():
        shutil.copy(path, other)
        crates.append((name, other / path.name))
    os.utime(other)
    assert shop.link("case", crates=crates).code == 0
    assert shop.codegen("case", "sm_80").code == 0
    assert shop.assemble("case", "sm_80").code == 0
    assert {name: (shop.folder / name).read_bytes() for name in names} == before
    for name in names:
        assert str(shop.folder).encode() not in before[name]

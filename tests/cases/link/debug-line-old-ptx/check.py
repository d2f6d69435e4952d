"""The cubin carries source lines, and no folder or time stamp of the build."""

import os
import subprocess
from typing import Any


def check(shop: Any, case: Any) -> None:
    cubin = shop.folder / "case.sm_90.cubin"
    if shop.tools.nvdisasm:
        shown = subprocess.run(
            [shop.tools.nvdisasm, "-g", "-c", cubin], capture_output=True, text=True, check=True
        ).stdout
        assert 'File "./kern.rs", line' in shown
    before = cubin.read_bytes()
    assert str(shop.folder).encode() not in before
    os.utime(shop.folder / "kern.rs", (1_000_000_000, 1_000_000_000))
    assert shop.assemble("case", "sm_90").code == 0
    assert cubin.read_bytes() == before

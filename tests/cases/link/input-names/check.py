"""Links the same crate from a folder with an odd name."""

import shutil
from typing import Any


def check(shop: Any, case: Any) -> None:
    odd = shop.folder / "a b$c:d'ü" / "lib kern=1.rlib"
    odd.parent.mkdir()
    shutil.copy(shop.folder / "libkern.rlib", odd)
    before = (shop.folder / "case.bc").read_bytes()
    outcome = shop.link("case", crates=[("kern", odd)])
    assert outcome.code == 0, outcome.stderr
    assert (shop.folder / "case.bc").read_bytes() == before

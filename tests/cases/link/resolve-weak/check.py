"""The other order gives the same code."""

from typing import Any


def check(shop: Any, case: Any) -> None:
    assert shop.link("case", crates=list(reversed(shop.crates.items()))).code == 0
    assert shop.codegen("case", "sm_80").code == 0
    assert "222" in shop.text("case.sm_80.ptx")

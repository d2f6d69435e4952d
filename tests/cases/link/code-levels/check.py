"""O0 is longer than Os, and unrolling can be turned off."""

from typing import Any


def check(shop: Any, case: Any) -> None:
    def size(level: str, *options: str) -> int:
        assert shop.codegen("case", "sm_80", level, *options).code == 0
        return len(shop.text("case.sm_80.ptx").splitlines())

    assert size("0") > size("s")
    assert size("3", "--no-unroll") < size("3")

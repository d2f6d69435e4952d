"""Unknown archs, and words that are none."""

from typing import Any


def check(shop: Any, case: Any) -> None:
    for arch, message in (("sm_130", "know sm_130"), ("sm_85", "know sm_85"), ("gfx1", "is not")):
        outcome = shop.codegen("case", arch)
        assert outcome.code == 1
        assert message in outcome.stderr

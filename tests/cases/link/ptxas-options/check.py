"""The report lists the options."""

from typing import Any


def check(shop: Any, case: Any) -> None:
    report = shop.json("case.sm_80.json")
    assert report["options"] == ["-O1", "--maxrregcount=40"]
    assert report["kernels"][0]["occupancy"]["256"] == 1.0

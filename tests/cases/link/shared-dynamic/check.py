"""Which kernel uses dynamic shared memory."""

from typing import Any


def check(shop: Any, case: Any) -> None:
    kernels = {k["name"]: k for k in shop.json("case.manifest.json")["kernels"]}
    assert kernels["with"]["uses_dynamic_shared"] is True
    assert kernels["without"]["uses_dynamic_shared"] is False

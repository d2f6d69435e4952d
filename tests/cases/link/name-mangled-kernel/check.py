"""The Rust path of the kernel."""

from typing import Any


def check(shop: Any, case: Any) -> None:
    (kernel,) = shop.json("case.manifest.json")["kernels"]
    assert kernel["rust_path"] == "kern::inner::k"
    assert kernel["name"].startswith("_RNv")

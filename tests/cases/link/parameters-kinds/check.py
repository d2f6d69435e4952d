"""The manifest's classes, sizes and offsets."""

from typing import Any


def check(shop: Any, case: Any) -> None:
    (kernel,) = shop.json("case.manifest.json")["kernels"]
    found = [(p["cls"], p["size"], p["offset"]) for p in kernel["parameters"]]
    assert found == [
        ("pointer", 8, 0),
        ("int", 1, 8),
        ("int", 4, 12),
        ("int", 1, 16),
        ("int", 2, 18),
        ("int", 4, 20),
        ("int", 8, 24),
        ("int", 16, 32),
        ("float", 2, 48),
        ("float", 4, 52),
        ("float", 8, 56),
        ("int", 8, 64),
        ("pointer", 8, 72),
        ("pointer", 8, 80),
        ("pointer", 8, 88),
    ]

"""Names and types from DWARF."""

from typing import Any


def check(shop: Any, case: Any) -> None:
    (kernel,) = shop.json("case.manifest.json")["kernels"]
    assert kernel["rust_path"] == "kern::image::blur"
    assert kernel["source"].split(":")[0] == "kern.rs"
    assert [(p["name"], p["rust_type"]) for p in kernel["parameters"]] == [
        ("input", "*const f32"),
        ("output", "*mut f32"),
        ("width", "usize"),
        ("sigma", "f32"),
    ]

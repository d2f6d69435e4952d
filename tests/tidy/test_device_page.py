"""docs/device.md names everything that the device library offers."""

from __future__ import annotations

import re
from pathlib import Path


def test_every_public_name_is_on_the_page(root: Path) -> None:
    sources = root / "toolchain" / "device" / "gpu" / "src"
    exported = re.findall(r"pub use \w+::(?:\{([^}]*)\}|(\w+))", (sources / "lib.rs").read_text())
    names = {n for many, one in exported for n in re.findall(r"\w+", many or one)}
    names |= set(re.findall(r"^    fn (\w+)\(", (sources / "math.rs").read_text(), re.MULTILINE))
    assert len(names) > 100
    page = set(re.findall(r"\w+", (root / "docs" / "device.md").read_text("utf-8")))
    assert sorted(names - page) == []

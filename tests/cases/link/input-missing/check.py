"""A missing file and a folder in its place."""

from typing import Any


def check(shop: Any, case: Any) -> None:
    outcome = shop.link("case", crates=[("kern", shop.folder / "gone.rlib")])
    assert outcome.code == 3
    assert "gone.rlib: No such file or directory" in outcome.stderr
    outcome = shop.link("case", crates=[("kern", shop.folder)])
    assert outcome.code == 3
    assert "Is a directory" in outcome.stderr

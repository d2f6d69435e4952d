"""Says where the manifest puts the static."""

from typing import Any


def check(shop: Any, _: Any) -> None:
    (static,) = shop.json("case.manifest.json")["statics"]
    assert static["space"] == "constant" and static["size"] == 64 and static["align"] == 4

"""The map file."""

import re
from typing import Any


def check(shop: Any, case: Any) -> None:
    assert shop.link("case", "--map", "case.map").code == 0
    text = shop.text("case.map")
    assert text.startswith("map of case\n")
    sections = dict(re.findall(r"^(\w+)\n((?:  .*\n)+)", text, re.MULTILINE))
    assert re.search(r"static +16  a::TABLE", sections["a"])
    assert re.search(r"function +\d+  a::get", sections["a"])
    assert re.search(r"kernel +\d+  k$", sections["b"], re.MULTILINE)

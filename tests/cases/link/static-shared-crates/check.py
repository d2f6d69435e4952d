"""There is one variable, not two."""

import re
from typing import Any


def check(shop: Any, case: Any) -> None:
    ptx = shop.text("case.sm_80.ptx")
    assert len(re.findall(r"^\.global .*HITS", ptx, re.MULTILINE)) == 1

"""One expression of each type is fused, the other is not, at every level."""

import re
from typing import Any


def check(shop: Any, case: Any) -> None:
    for level in ("0", "1", "3", "s"):
        assert shop.codegen("case", "sm_90", level).code == 0
        found = re.findall(
            r"^\t((?:fma|mul|add)\S*f(?:32|64))\b", shop.text("case.sm_90.ptx"), re.M
        )
        wanted = [f"{op}.rn.{kind}" for kind in ("f32", "f64") for op in ("add", "fma", "mul")]
        assert sorted(found) == sorted(wanted), level

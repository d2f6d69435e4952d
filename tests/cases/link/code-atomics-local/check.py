"""A kernel's own variables cost no `atom`, its parameters and statics no question."""

import re
from typing import Any


def check(shop: Any, case: Any) -> None:
    for arch in ("sm_75", "sm_120"):
        assert shop.codegen("case", arch, "3").code == 0
        text = shop.text(f"case.{arch}.ptx")
        found = dict(re.findall(r"\.entry (\w+)\((.*?^})", text, re.DOTALL | re.MULTILINE))
        for name in ("own", "exchanged", "narrow"):
            assert not re.search(r"\batom\.|isspacep", found[name]), name
        assert found["elsewhere"].count("atom.global.") == 3
        assert "isspacep" not in found["elsewhere"]
        assert found["either"].count("isspacep.local") >= 1
        assert re.search(r"\batom\.", found["either"])

"""What stands before and after each `atom` of each kernel.

PTX ISA, "Memory Consistency Model": a fence before a relaxed operation makes a release of it, one
behind it an acquire; sequential consistency takes `fence.sc`. LLVM itself maps `cas` so.
"""

import re
from typing import Any

SIDES = {
    "relaxed": ("", ""),
    "acquire": ("", "acquire"),
    "release": ("release", ""),
    "acq_rel": ("release", "acquire"),
    "seq_cst": ("sc", "acquire"),
}


def check(shop: Any, case: Any) -> None:
    for arch, exact in (("sm_75", False), ("sm_90", True), ("sm_120", True)):
        for level in ("0", "1", "3", "s"):
            assert shop.codegen("case", arch, level).code == 0
            text = shop.text(f"case.{arch}.ptx")
            for name, (before, after) in SIDES.items():
                body = re.search(rf"\.entry {name}\(.*?^}}", text, re.DOTALL | re.MULTILINE)
                assert body
                lines = re.findall(r"^\t((?:atom|fence)\S*)", body[0], re.MULTILINE)
                wanted = []
                for operation in ("add.u32", "exch.b64", "max.u64"):
                    sides = [fence(side, exact) for side in (before, after)]
                    wanted += [*sides[0], f"atom.{operation}", *sides[1]]
                found = [line.rstrip(";").replace(".global", "") for line in lines]
                assert without_cas(found) == wanted, (arch, level, name)


def fence(side: str, exact: bool) -> list[str]:
    """A fence in PTX; old architectures have no one-sided ones."""
    return [f"fence.{side if exact or side == 'sc' else 'acq_rel'}.sys"] if side else []


def without_cas(lines: list[str]) -> list[str]:
    """The lines without `cas` and the `fence.sc` that belongs to it."""
    kept: list[str] = []
    for line in lines:
        if ".cas." not in line:
            kept.append(line)
        elif kept[-1] == "fence.sc.sys":
            kept.pop()
    return kept

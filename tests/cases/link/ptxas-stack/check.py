"""The report tells what cuobjdump does; a budget sees what is called, and what has no bound."""

import re
import subprocess
from typing import Any

from support.device import Outcome, fatcrate


def check(shop: Any, case: Any) -> None:
    for arch in ("sm_75", "sm_90", "sm_120"):
        kernels = {k["name"]: k for k in shop.json(f"case.{arch}.json")["kernels"]}
        assert kernels["calls"]["stack"] >= 2000
        assert kernels["calls"]["stack_known"]
        assert not kernels["deep"]["stack_known"]
        command = [shop.tools.cuobjdump, "-res-usage", f"case.{arch}.cubin"]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = dict(re.findall(r"Function (\w+):\n.*STACK:(\w+)", shown))
        assert found == {"calls": str(kernels["calls"]["stack"]), "deep": "UNKNOWN"}

    outcome = within(shop, "max_stack=1000")
    assert outcome.code == 1
    takes = kernels_of(shop)["calls"]["stack"]
    assert (
        f"error[FC0334]: calls: takes {takes} bytes of stack on sm_90, the budget allows 1000\n"
        "  help: raise max_stack, or make the kernel smaller\n"
    ) in outcome.stderr
    least = kernels_of(shop)["deep"]["stack"]
    assert (
        f"error[FC0334]: deep: takes a stack on sm_90 of {least} bytes or more: ptxas finds no"
        " bound, and the budget allows 1000\n"
        "  help: avoid recursion and calls through pointers and `dyn`, or give no max_stack\n"
    ) in outcome.stderr
    spills = kernels_of(shop)["deep"]["called_spills"]
    assert spills > 0
    outcome = within(shop, "deep:max_spill_bytes=0")
    assert outcome.code == 1
    assert (
        f"error[FC0334]: deep: takes {spills} bytes of spills on sm_90, the budget allows 0;"
        f" {spills} of them in functions that it calls\n"
    ) in outcome.stderr


def within(shop: Any, budget: str) -> Outcome:
    """Assembles once more, with a budget."""
    files = ("case.sm_90.ptx", "again.cubin", "again.json")
    argv = shop.recipe.assemble_argv(shop.recipe_tools, "sm_90", *files, budgets=[budget])
    return fatcrate(*argv)


def kernels_of(shop: Any) -> dict[str, Any]:
    """The report of the last step that succeeded, by kernel."""
    return {k["name"]: k for k in shop.json("case.sm_90.json")["kernels"]}

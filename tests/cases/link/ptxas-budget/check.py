"""Budgets through the command line: nothing is written when one is exceeded."""

from typing import Any

from support.device import fatcrate


def check(shop: Any, case: Any) -> None:
    (shop.folder / "case.sm_80.cubin").unlink()
    argv = shop.recipe.assemble_argv(
        shop.recipe_tools,
        "sm_80",
        "case.sm_80.ptx",
        "case.sm_80.cubin",
        "case.sm_80.json",
        budgets=["max_registers=10", "k:max_stack=0", "max_spill_bytes=0"],
    )
    outcome = fatcrate(*argv)
    assert outcome.code == 1
    lines = [line for line in outcome.stderr.splitlines() if line.startswith("error")]
    registers = shop.json("case.sm_80.json")["kernels"][0]["registers"]
    assert lines == [
        f"error[FC0334]: k: takes {registers} registers on sm_80, the budget allows 10",
    ]
    assert not (shop.folder / "case.sm_80.cubin").exists()

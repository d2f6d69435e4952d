"""Relocatable assembly and nvlink: one cubin of several partitions, its cost told."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from fatcrate.lto import budget
from fatcrate.toolchain.arch import parse_one
from fatcrate.toolchain.discover import Tools
from support.device import Workshop, fatcrate

SOURCE = """
#![no_std]
#[inline(never)] fn helper(x: u32, n: u32) -> u32 {{ if n == 0 {{ x }} else {{ x / n + {value} }} }}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn {name}(x: *mut u32, n: u32) {{ unsafe {{ *x = helper(*x, n); }} }}
"""


@pytest.fixture
def shop(tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.chdir(tmp_path)
    return Workshop(tools, tmp_path)


def nvlink(tools: Tools) -> str:
    path = Path(tools.ptxas).with_name("nvlink")
    if not path.exists():
        pytest.skip("nvlink is not beside ptxas")
    return str(path)


def part(shop: Workshop, name: str, kernel: str, value: int) -> str:
    path = shop.folder / f"{name}.rs"
    path.write_text(SOURCE.format(name=kernel, value=value))
    assert shop.compile(name, path).code == 0
    outcome = shop.link(name, crates=[(name, shop.crates[name])])
    assert outcome.code == 0, outcome.stderr
    assert shop.codegen(name, "sm_90").code == 0
    argv = shop.recipe.assemble_argv(
        shop.recipe_tools, "sm_90", f"{name}.sm_90.ptx", f"{name}.cubin", f"{name}.json"
    )
    outcome = fatcrate(*argv[:-1], "--relocatable", argv[-1])
    assert outcome.code == 0, outcome.stderr
    return f"{name}.cubin"


def test_two_partitions_become_one_cubin(shop: Workshop) -> None:
    linker = nvlink(shop.tools)
    parts = [part(shop, "a", "ka", 1), part(shop, "b", "kb", 2)]
    argv = ["nvlink", "--arch", "sm_90", "--nvlink", linker, "--output", "all.cubin", *parts]
    outcome = fatcrate(*argv)
    assert outcome.code == 0, outcome.stderr
    kernel = shop.json("a.json")["kernels"][0]
    assert set(kernel["whole"]) == {"registers", "stack"}
    if shop.tools.cuobjdump:
        shown = subprocess.run(
            [shop.tools.cuobjdump, "-res-usage", "all.cubin"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert "Function ka:" in shown and "Function kb:" in shown
    before = Path("all.cubin").read_bytes()
    assert fatcrate(*argv).code == 0
    assert Path("all.cubin").read_bytes() == before


def test_a_kernel_in_both_is_an_error(shop: Workshop) -> None:
    linker = nvlink(shop.tools)
    parts = [part(shop, "a", "same", 1), part(shop, "b", "same", 2)]
    outcome = fatcrate(
        "nvlink", "--arch", "sm_90", "--nvlink", linker, "--output", "all.cubin", *parts
    )
    assert outcome.code == 1
    assert "error[FC0336]: all.cubin: Multiple definition of 'same'" in outcome.stderr
    assert not os.path.exists("all.cubin")


def test_missing_tools_and_inputs(shop: Workshop) -> None:
    common = ["nvlink", "--arch", "sm_90", "--output", "x.cubin", "--nvlink"]
    outcome = fatcrate(*common, "no-such-program", "gone.cubin")
    assert outcome.code == 3 and "gone.cubin" in outcome.stderr
    Path("here.cubin").write_bytes(b"x")
    outcome = fatcrate(*common, "./no-such-program", "here.cubin")
    assert outcome.code == 3 and "error[FC0332]" in outcome.stderr


def test_the_cost_is_a_warning() -> None:
    relocatable = [budget.Resources("k", registers=38, stack=40), budget.Resources("same")]
    whole = [budget.Resources("k", registers=32), budget.Resources("same")]
    (found,) = budget.relocation_costs(relocatable, whole, parse_one("sm_90"))
    assert found.render() == (
        "warning[FC0337]: k: takes 38 registers and 40 bytes of stack on sm_90; assembled as a"
        " whole program 32 and 0\n"
        "  help: leave `relocatable` off, or put its crates into one partition"
    )

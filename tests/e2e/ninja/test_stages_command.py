"""`fatcrate stages` and `fatcrate build --save-temps` on the example of reductions."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fatcrate.toolchain.discover import Tools
from support.ninja import FATCRATE, Project


@pytest.fixture(scope="module")
def reduce(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Project:
    """A copy of the example, built for one arch."""
    folder = tmp_path_factory.mktemp("stages") / "reduce"
    ignore = shutil.ignore_patterns("fatcrate-out")
    shutil.copytree(root / "examples/reduce", folder, ignore=ignore)
    project = Project(folder)
    project.build("--archs", "sm_90").ok()
    return project


def stages(project: Project, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [FATCRATE, "stages", *argv],
        cwd=project.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def instructions(text: str) -> list[str]:
    """nvdisasm's instructions, without places and addresses."""
    return re.findall(r"^\s*/\*[0-9a-f]+\*/\s+(.*\S)", text, re.M)


def test_every_stage_is_tied_to_the_source(reduce: Project, tools: Tools) -> None:
    before = reduce.hashes()
    done = stages(reduce, "reduce", "sum", "--arch", "sm_90", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["target"], found["kernel"], found["arch"]) == ("reduce", "sum", "sm_90")
    listed = {each["stage"]: each["lines"] for each in found["stages"]}
    assert list(listed) == ["source", "mir", "compiled", "linked", "optimised", "ptx", "sass"]

    # The addition of two elements stands in a generic function of another crate.
    source = (reduce.folder / "reduction.rs").read_text().splitlines()
    addition = 1 + source.index("        a + b")
    mnemonics = {"mir": "add", "compiled": "fadd", "linked": "fadd", "optimised": "fadd"}
    for stage, word in {**mnemonics, "ptx": "add.rn.f32", "sass": "FADD"}.items():
        texts = [line["text"] for line in at(listed[stage], "reduction.rs", addition)]
        assert any(word in text for text in texts), (stage, texts)
    # What came of it was inlined into the kernel.
    for line in listed["sass"]:
        if "FADD" in line["text"]:
            assert line["places"][-1]["file"] == "reduce.rs"

    # Only that kernel, and the instructions that the ordinary build has.
    assert not any("normalize" in line["text"] for line in listed["linked"])
    assert reduce.hashes() == before
    assert [
        line["text"].split("*/", 1)[1].split() for line in listed["sass"] if "/*" in line["text"]
    ] == [text.split() for text in ordinary(reduce, tools, "sum")]
    assert sum(not line["places"] for line in listed["sass"]) < len(listed["sass"]) / 2


def at(lines: list[dict[str, Any]], file: str, number: int) -> list[dict[str, Any]]:
    return [
        line
        for line in lines
        if any((p["file"], p["line"]) == (file, number) for p in line["places"])
    ]


def ordinary(project: Project, tools: Tools, kernel: str) -> list[str]:
    """SASS of a kernel of the ordinary build, by nvdisasm itself."""
    cubin = project.out / "reduce/sm_90.cubin"
    shown = subprocess.run(
        [tools.nvdisasm, "-c", cubin], capture_output=True, text=True, check=True
    ).stdout
    (section,) = [
        part for part in shown.split("//---------------------") if f"\n.text.{kernel}:" in part
    ]
    return instructions(section)


def test_side_by_side_and_files(reduce: Project) -> None:
    shown = stages(reduce, "reduce", "sum", "--arch", "sm_90", "--width", "120", "--stage", "ptx")
    assert shown.returncode == 0, shown.stderr
    assert re.search(
        r"^reduction\.rs\n(?:.*\n)*?23          a \+ b +│ +\d+   add\.rn\.f32 .*;$",
        shown.stdout,
        re.M,
    )

    folder = reduce.folder / "made"
    done = stages(reduce, "reduce", "sum", "--arch", "sm_90", "--files", "made")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == [
        "0.mir", "1-compiled.ll", "2-linked.ll", "3-optimised.ll", "4.ptx", "6.sass",
        "source.rs", "stages.json",
    ]  # fmt: skip
    assert re.search(
        r"FADD .*reduction\.rs:23:9 in reduction\.rs:68:34 in reduce\.rs:39:",
        (folder / "6.sass").read_text(),
    )


def test_a_kernel_that_is_not_there(reduce: Project) -> None:
    done = stages(reduce, "reduce", "smu", "--arch", "sm_90", "--quiet")
    assert done.returncode == 2
    assert done.stderr == (
        "error[FC0126]: smu: is not a kernel of reduce\n"
        "  help: did you mean 'sum'? kernels: dot, log_sum_exp, max, normalize, sum\n"
    )


def test_save_temps(reduce: Project, tools: Tools) -> None:
    before = reduce.hashes()
    reduce.build("--archs", "sm_90", "--save-temps").ok()
    temps = reduce.out / "reduce/temps"
    assert sorted(path.name for path in temps.iterdir()) == [
        "0-gpu.mir", "0-reduce.mir", "0-reduction.mir", "0-slices.mir",
        "1-gpu.compiled.ll", "1-reduce.compiled.ll", "1-reduction.compiled.ll",
        "1-slices.compiled.ll", "2-linked.ll", "3-sm_90.optimised.ll",
        "4-sm_90.ptx", "5-sm_90.cubin", "6-sm_90.sass",
    ]  # fmt: skip
    assert "\nfn sum(" in (temps / "0-reduce.mir").read_text()
    for name in ("1-reduce.compiled.ll", "2-linked.ll", "3-sm_90.optimised.ll"):
        assert re.search(r"^define [^\n]*ptx_kernel void @sum\(", (temps / name).read_text(), re.M)
    assert (temps / "4-sm_90.ptx").read_bytes() == (reduce.out / "reduce/sm_90.ptx").read_bytes()
    assert (temps / "5-sm_90.cubin").read_bytes() == (
        reduce.out / "reduce/sm_90.cubin"
    ).read_bytes()
    sass = (temps / "6-sm_90.sass").read_text()
    assert [i for i in ordinary(reduce, tools, "sum") if i not in instructions(sass)] == []

    kept = {name: digest for name, digest in reduce.hashes().items() if name in before}
    assert kept == before
    assert reduce.build("--archs", "sm_90", "--save-temps").ok().steps == []
    reduce.build("--archs", "sm_90").ok()
    assert not temps.exists()

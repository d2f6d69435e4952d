"""The command line of `fatcrate build`, and what it says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.ninja import FATCRATE, FILES, Project


def test_targets_and_outputs_by_name(project: Project) -> None:
    text = "  solo: {crates: [other], archs: [sm_90]}\n"
    (project.folder / "fatcrate.yaml").open("a").write(text)
    built = project.build("solo").ok()
    assert "pack solo" in built.steps
    project.edit("mathlib.rs", "a * x + y", "a * x - y")
    project.edit("util.rs", "a + a", "a * a")
    assert project.build("util").ok().steps == ["compile util"]
    built = project.build("demo/sm_80.cubin", "util").ok()
    assert "assemble demo for sm_80" in built.steps
    assert "generate demo for compute_90" not in built.steps


def test_unknown_targets(project: Project) -> None:
    built = project.build("dem", "demo/sm_90.cubin", "util")
    assert built.code == 2
    assert built.stderr == (
        "error[FC0120]: dem: there is no such target\n"
        "  help: did you mean 'demo'? targets: demo, gpu, kern, mathlib, other, util\n"
        "error[FC0120]: demo/sm_90.cubin: there is no such target\n"
        "  help: did you mean 'demo/sm_80.cubin'? targets: demo, gpu, kern, mathlib, other, util\n"
    )


def test_dry_run_runs_nothing(project: Project) -> None:
    project.edit("mathlib.rs", "a * x + y", "a * x - y")
    before = project.hashes()
    built = project.build("--dry-run").ok()
    assert "compile mathlib" in built.steps and "pack demo" in built.steps
    assert built.stderr.endswith("steps; nothing was run\n")
    assert project.hashes() == before
    assert "compile mathlib" in project.build().ok().steps


def test_verbose_shows_commands(project: Project) -> None:
    project.edit("mathlib.rs", "a * x + y", "a * x - y")
    built = project.build("--verbose", "mathlib").ok()
    assert "--crate-name mathlib" in built.stderr


def test_quiet(project: Project) -> None:
    project.edit("mathlib.rs", "a * x + y", "a * x - y")
    assert project.build("--quiet").ok().stderr == ""
    project.edit("mathlib.rs", "a * x - y", "a * x - z")
    built = project.build("--quiet")
    assert built.code == 1
    assert built.stderr.startswith("failed: compile mathlib\nerror[E0425]: cannot find value `z`")


def test_keep_going(project: Project) -> None:
    project.edit("mathlib.rs", "a * x + y", "b")
    project.edit("util.rs", "a + a", "c")
    built = project.build("--keep-going", "-j1")
    assert built.code == 1
    assert built.stderr.count("failed: ") == 3
    assert built.stderr.endswith("2 steps failed: compile mathlib, compile util\n") or (
        built.stderr.endswith("2 steps failed: compile util, compile mathlib\n")
    )
    stopped = project.build("-j1")
    assert stopped.stderr.endswith("1 step failed: compile mathlib\n") or (
        stopped.stderr.endswith("1 step failed: compile util\n")
    )


def test_json(project: Project) -> None:
    found = project.build("--json").ok().json()
    assert (found["version"], found["status"], found["steps"]) == (1, "up-to-date", [])
    assert str(project.out / "demo.fatbin") in found["outputs"]
    project.edit("mathlib.rs", "a * x + y", "b")
    built = project.build("--json")
    assert (built.code, built.stderr) == (1, "")
    found = built.json()
    assert found["status"] == "failed"
    (step,) = found["steps"]
    assert (step["what"], step["code"]) == ("compile mathlib", 1)
    assert "error[E0425]" in step["output"]
    shutil.rmtree(project.out / "demo")
    (project.out / "demo.fatbin").unlink()
    assert str(project.out / "demo.fatbin") not in project.build("--json").json()["outputs"]
    planned = project.build("--json", "--dry-run").json()
    assert {step["code"] for step in planned["steps"]} == {None}


def test_json_of_a_wrong_project_file(project: Project) -> None:
    project.edit("fatcrate.yaml", "archs: [", "arch: [")
    built = project.build("--json")
    assert built.code == 1
    assert [fault["code"] for fault in built.json()["diagnostics"]] == ["FC0113", "FC0111"]


def test_json_of_a_wrong_command_line(project: Project) -> None:
    built = project.build("--json", "-j", "0")
    assert built.code == 2
    (fault,) = built.json()["diagnostics"]
    assert (fault["code"], fault["subject"]) == ("FC0101", "fatcrate build")
    assert fault["message"] == "argument -j/--jobs: must be a number from 1, not '0'"


def test_another_folder_for_project_and_outputs(project: Project, tmp_path: Path) -> None:
    elsewhere = Project(tmp_path)
    out = tmp_path / "elsewhere"
    built = elsewhere.build("-C", "project", "--out", str(out)).ok()
    assert f"built demo in {out}" in built.stderr
    assert project.hashes(out) == project.hashes()
    assert elsewhere.build("-C", "project", "--out", "../elsewhere").ok().steps == []


def test_no_project_file(tmp_path: Path) -> None:
    built = Project(tmp_path).build()
    assert built.code == 1
    assert built.stderr == (
        f"error[FC0118]: {tmp_path}: has no fatcrate.yaml\n"
        "  help: run it in the project's folder, in one below it, or name it with -C;"
        " `fatcrate new` starts a project\n"
    )
    (tmp_path / "Cargo.toml").touch()
    assert (
        Project(tmp_path)
        .build()
        .stderr.endswith(
            "name it with -C; `fatcrate import Cargo.toml` makes one of this Cargo package\n"
        )
    )
    (tmp_path / "WORKSPACE").touch()
    (tmp_path / "kernels").mkdir()
    assert Project(tmp_path / "kernels").build().stderr == (
        f"error[FC0118]: {tmp_path}/kernels: has no fatcrate.yaml\n"
        "  help: this is a Bazel workspace: run `bazel build //...`, or add a fatcrate.yaml\n"
    )
    built = Project(tmp_path).build("-C", "nowhere")
    assert (built.code, built.stderr) == (
        2,
        f"error[FC0101]: -C: {tmp_path}/nowhere is not a folder\n  help: check the path\n",
    )


def test_project_files_that_are_none(tmp_path: Path) -> None:
    file = tmp_path / "fatcrate.yaml"
    file.symlink_to("gone")
    head = f"error[FC0118]: {tmp_path}: its fatcrate.yaml is "
    link = f"{head}a link to gone, which is not there\n"
    assert Project(tmp_path).build().stderr.startswith(link)
    file.unlink()
    os.mkfifo(file)
    assert Project(tmp_path).build().stderr.startswith(f"{head}not a regular file\n")
    file.unlink()
    file.mkdir()
    assert Project(tmp_path).build().stderr.startswith(f"{head}a folder\n")


@pytest.mark.parametrize("out", ["kern", "kern/src"])
def test_outputs_among_sources(project: Project, out: str) -> None:
    before = sorted(project.folder.rglob("*"))
    built = project.build("--out", out)
    assert built.code == 2
    assert built.stderr.startswith(
        f"error[FC0122]: {out}: holds the sources of crate 'kern'\n  --> fatcrate.yaml:5:3\n"
    )
    assert "help: choose a folder of its own for outputs" in built.stderr
    assert sorted(project.folder.rglob("*")) == before


def test_closed_streams(project: Project) -> None:
    """Messages go nowhere, and not into a file that is opened in the stream's place."""
    project.edit("mathlib.rs", "a * x + y", "a * x - y")
    command = f"{FATCRATE} build mathlib <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], cwd=project.folder, check=False).returncode == 0
    assert project.build("mathlib").ok().steps == []
    assert project.ninja("-n", "mathlib") == "ninja: no work to do.\n"


@pytest.mark.parametrize("words", ["build --json", "--version", "--help"])
def test_a_full_disk_for_what_is_printed(project: Project, words: str) -> None:
    command = f"{FATCRATE} {words} > /dev/full"
    done = subprocess.run(
        ["sh", "-c", command], cwd=project.folder, check=False, capture_output=True, text=True
    )
    assert done.returncode == 3
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


def test_interrupted_before_anything_is_imported(tmp_path: Path) -> None:
    """The first import of fatcrate's own sends the signal to itself."""
    (tmp_path / "early.py").write_text(
        "import importlib.abc, os, signal, sys\n"
        "class Early(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'fatcrate.rules.cli':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Early())\n"
        "from fatcrate.__main__ import entry\n"
        "entry()\n"
    )
    done = subprocess.run(
        [sys.executable, "early.py"], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "fatcrate: interrupted\n")


@pytest.mark.parametrize("out", [".", "..", "fatcrate.yaml"])
def test_output_folders_that_cannot_be(project: Project, out: str) -> None:
    built = project.build("--out", out)
    assert built.code == 2
    assert built.stderr.startswith(f"error[FC0122]: {out}: ")


@pytest.mark.parametrize(
    "args", [["--jobs", "0"], ["-j", "many"], ["--frobnicate"], ["--arch", "sm_90"]]
)
def test_wrong_usage(project: Project, args: list[str]) -> None:
    built = project.build(*args)
    assert built.code == 2
    assert "Traceback" not in built.stderr


def test_archs_that_the_toolchain_cannot_build(project: Project) -> None:
    project.edit("fatcrate.yaml", "archs: [sm_80, compute_90]", "archs: [sm_85, sm_130, gfx942]")
    built = project.build()
    assert built.code == 1
    assert built.stderr.count("error[FC0211]") == 3
    assert "error[FC0211]: sm_85: " in built.stderr
    line = (project.folder / "fatcrate.yaml").read_text().splitlines()[7]
    assert f"  --> fatcrate.yaml:8:{line.index('sm_85') + 1}\n" in built.stderr
    built = project.build("--archs", "sm_85 sm_9o")
    assert built.code == 1
    assert "error[FC0210]: sm_9o: is not an architecture\n" in built.stderr


@pytest.mark.parametrize("text", ["", " , "])
def test_no_archs_on_the_command_line(project: Project, text: str) -> None:
    built = project.build("--archs", text)
    assert (built.code, built.stderr) == (
        2,
        "error[FC0101]: --archs: must name at least one arch\n"
        "  help: as in --archs sm_90,compute_90; without it those of the project file are built\n",
    )


def test_groups_of_archs(project: Project) -> None:
    built = project.build("--archs", "all-major", "--dry-run").ok()
    generated = [s.rsplit(" ", 1)[1] for s in built.steps if s.startswith("generate")]
    assert {"sm_75", "sm_90", "sm_100", "sm_120"} <= set(generated)
    assert len([arch for arch in generated if arch.startswith("compute")]) == 1
    assert not {"sm_80", "sm_86", "sm_121"} & set(generated)


def test_help_has_examples(project: Project) -> None:
    text = project.build("--help").stdout
    assert "fatcrate build demo --archs sm_90,compute_90" in text
    assert "--keep-going" in text and "--generate" not in text


def test_a_project_of_crates_alone(fresh: Project) -> None:
    yaml = "version: 1\ncrates:\n  util: {path: util.rs}\n"
    fresh.write({"fatcrate.yaml": yaml, "util.rs": FILES["util.rs"]})
    assert fresh.build().ok().steps == ["compile util"]


def test_faults_found_by_the_link(project: Project) -> None:
    project.edit("other.rs", "fn double(", "fn saxpy(")
    built = project.build()
    assert built.code == 1
    assert "failed: link demo\nerror[FC03" in built.stderr
    assert "saxpy" in built.stderr and "kern" in built.stderr and "other" in built.stderr
    project.write({"other.rs": FILES["other.rs"]})
    project.edit("util.rs", "a + a", "unsafe { gone(a) }")
    with (project.folder / "util.rs").open("a") as stream:
        stream.write('unsafe extern "C" { fn gone(a: f32) -> f32; }\n')
    built = project.build()
    assert built.code == 1
    assert "error[FC0310]: gone: " in built.stderr


def test_a_target_without_kernels(project: Project) -> None:
    (project.folder / "fatcrate.yaml").open("a").write(
        "  empty: {crates: [util], archs: [sm_90]}\n"
    )
    built = project.build()
    assert built.code == 1
    assert "failed: link empty\nerror[FC03" in built.stderr


def test_a_budget_that_is_exceeded(project: Project) -> None:
    project.edit("fatcrate.yaml", "host: [x86_64]", "budgets: {saxpy: {max_registers: 2}}")
    built = project.build()
    assert built.code == 1
    assert "failed: assemble demo for sm_80\nerror[FC0334]" in built.stderr
    project.edit("fatcrate.yaml", "max_registers: 2", "max_registers: 200")
    project.build().ok()


def test_the_oldest_driver(project: Project) -> None:
    before = (project.out / "demo/compute_90.ptx").read_text()
    project.edit("fatcrate.yaml", "host: [x86_64]", "min_driver: 580")
    project.build().ok()
    after = (project.out / "demo/compute_90.ptx").read_text()
    assert before.split("\n.version ")[1] < after.split("\n.version ")[1]
    project.edit("fatcrate.yaml", "min_driver: 580", "min_driver: 450")
    built = project.build()
    assert built.code == 1
    assert built.steps == []  # found before anything is compiled
    line = (project.folder / "fatcrate.yaml").read_text().splitlines()[7]
    assert built.stderr.count("error[FC0236]: ") == 2
    assert f"  --> fatcrate.yaml:8:{line.index('450') + 1}\n" in built.stderr


def test_a_failed_build_lists_no_old_outputs(project: Project) -> None:
    project.edit("util.rs", "a + a", "b")
    built = project.build("--json")
    assert (built.code, built.json()["status"], built.json()["outputs"]) == (1, "failed", [])


def test_a_file_that_is_no_project(project: Project) -> None:
    with open(project.folder / "fatcrate.yaml", "ab") as stream:
        stream.truncate(10_000_000)
    built = project.build()
    assert built.code == 1
    assert "FC0131]: fatcrate.yaml: has 10000000 bytes; a project file has at most" in built.stderr

"""fatcrate run builds first; commands find the project from a folder below it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.ninja import FATCRATE, FILES, Project

LAUNCH = ("run", "demo", "double", "--arg", "zeros:f32:1")


def fatcrate(folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [FATCRATE, *argv],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_edit_is_built_before_it_runs(project: Project) -> None:
    launch = [*LAUNCH[:3], "--arg", "out:y.npy:f32:1", "--json"]
    first = fatcrate(project.folder, *launch)
    assert (first.returncode, first.stderr) == (0, "")
    assert json.loads(first.stdout)["kernel"] == "double"
    before = project.hashes()
    project.edit("util.rs", "a + a", "panic!()")
    stale = fatcrate(project.folder, *LAUNCH, "--no-build")
    assert stale.returncode == 0 and project.hashes() == before
    done = fatcrate(project.folder, *LAUNCH)
    assert done.returncode == 1 and "FC0604" in done.stderr
    steps = [line.split("] ")[1] for line in done.stderr.splitlines() if line.startswith("[")]
    assert sorted(steps) == ["compile other", "compile util", "link demo"]
    changed = {name for name, digest in project.hashes().items() if before[name] != digest}
    assert not [name for name in changed if name.endswith((".ptx", ".cubin", ".fatbin"))]
    again = fatcrate(project.folder, *LAUNCH, "--quiet")
    assert "[" not in again.stderr.split("FC0604")[0].removeprefix("error[")


def test_faults_of_the_build(project: Project) -> None:
    project.edit("util.rs", "a + a", "b")
    built = project.build()
    ran = fatcrate(project.folder, *LAUNCH)
    assert (ran.returncode, ran.stdout) == (built.code, "") == (1, "")
    message = ran.stderr[ran.stderr.index("failed:") :]
    assert "error[E0425]: cannot find value `b`" in message
    assert message == built.stderr[built.stderr.index("failed:") :]
    told = fatcrate(project.folder, *LAUNCH, "--json")
    assert (told.returncode, json.loads(told.stdout)["status"]) == (1, "failed")
    assert fatcrate(project.folder, *LAUNCH, "--no-build").returncode == 0
    project.write({"fatcrate.yaml": "version: 2\n"})
    told = fatcrate(project.folder, *LAUNCH, "--json")
    assert (told.returncode, json.loads(told.stdout)["status"]) == (1, "failed")
    assert "FC0112" in told.stderr


def test_unknown_names(project: Project) -> None:
    done = fatcrate(project.folder, "run", "dem", "double")
    assert (done.returncode, done.stderr) == (
        2,
        "error[FC0120]: dem: there is no such target\n  help: did you mean 'demo'? targets: demo\n",
    )
    done = fatcrate(project.folder, "run", "dem", "double", "--no-build")
    assert done.returncode == 1 and "help: did you mean 'demo'? run `fatcrate" in done.stderr
    done = fatcrate(project.folder, "run", "demo", "dubble")
    assert done.returncode == 1
    assert "help: did you mean 'double'? kernels: double, saxpy\n" in done.stderr


def test_outputs_without_a_project(project: Project, tmp_path: Path) -> None:
    done = fatcrate(tmp_path, *LAUNCH, "--out", str(project.out))
    assert done.returncode == 0, done.stderr
    files = ("demo/linked.bc", "--manifest", "demo.manifest.json", *LAUNCH[2:])
    done = fatcrate(project.out, "run", "--module", *files)
    assert done.returncode == 0, done.stderr


def test_from_a_folder_below(project: Project) -> None:
    below = project.folder / "kern/src"
    built = fatcrate(below, "build")
    assert (built.returncode, built.stderr) == (
        0,
        "fatcrate: using ../../fatcrate.yaml\n"
        "fatcrate: nothing to do, fatcrate-out is up to date\n",
    )
    listed = fatcrate(below, "run", "demo", "--list")
    assert listed.stderr == "fatcrate: using ../../fatcrate.yaml\n"
    assert listed.stdout.startswith("double(pointer)\n")
    for words in (["check", "--quiet"], ["fmt", "--check"], ["clippy", "util"]):
        done = fatcrate(below, *words)
        assert done.returncode == 0, done.stderr
        said = "" if "--quiet" in words else "fatcrate: using ../../fatcrate.yaml\n"
        assert done.stderr.startswith(said)
    assert fatcrate(below, "build", "-C", ".").stderr.startswith("error[FC0118]")
    assert fatcrate(below, "clean").returncode == 0
    assert not project.out.exists()
    outside = fatcrate(below.parents[2], "build")
    assert outside.returncode == 1 and outside.stderr.startswith("error[FC0118]")


@pytest.mark.parametrize("words", [("check",), LAUNCH])
def test_outputs_of_other_archs_stay(project: Project, words: tuple[str, ...]) -> None:
    """A build for other archs than the project file's is not undone by what builds no image."""
    project.build("--archs", "sm_90").ok()
    before = project.hashes()
    assert "demo/sm_90.cubin" in before
    done = fatcrate(project.folder, *words)
    assert done.returncode == 0, done.stderr
    kept = project.hashes()
    assert {name: kept[name] for name in before} == before
    assert project.build("--archs", "sm_90").ok().steps == []


def test_the_folder_above_is_not_built_in_its_place(fresh: Project) -> None:
    """Plain Ninja makes its file again from its own project, or not at all."""
    inner = Project(fresh.folder / "inner")
    fresh.write(FILES)
    inner.write(FILES).build("util").ok()
    (inner.folder / "fatcrate.yaml").unlink()
    done = subprocess.run(
        ["ninja", "-C", str(inner.out), "util"],
        env={**os.environ, "PATH": f"{FATCRATE.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert not fresh.out.exists()

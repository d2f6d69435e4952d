"""Times that lie, files that became folders, folders that may not be written, odd text."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from support.ninja import FATCRATE, Project, wait_for


def back(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


@pytest.mark.parametrize("command", ["build", "check"])
def test_an_edit_with_an_old_time(project: Project, command: str) -> None:
    """A backup put back, or a clock that was set back."""

    def run() -> str:
        done = subprocess.run(
            [FATCRATE, command], cwd=project.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stderr

    run()
    before = project.hashes()
    project.edit("util.rs", "a + a", "a * a")
    back(project.folder / "util.rs", 1e6)
    told = run()
    assert "changed, though not newer: util.rs\n" in told
    assert f"{'compile' if command == 'build' else command} util" in told
    assert " mathlib\n" not in told
    if command == "build":
        assert project.hashes()["demo.fatbin"] != before["demo.fatbin"]
    assert "] " not in run()
    back(project.folder / "util.rs", 2e6)
    assert "changed, though not newer: util.rs\n" in run()
    assert "] " not in run()


def test_a_time_in_the_future(project: Project) -> None:
    back(project.folder / "util.rs", -1e6)
    for _ in range(2):
        built = project.build().ok()
        assert "compile util" in built.steps and "link demo" not in built.steps
        assert "with a time in the future, so built each time: util.rs\n" in built.stderr
    back(project.folder / "util.rs", 0)
    project.build().ok()
    assert project.build().ok().steps == []


def test_an_edit_during_the_build(project: Project) -> None:
    """The next build notices it."""
    project.edit("util.rs", "a + a", "a * a")
    process = project.start("-j", "1")
    wait_for(lambda: process.poll() is not None or (project.out / ".fatcrate/lock").read_text())
    project.edit("util.rs", "a * a", "a - a")
    assert process.wait(timeout=120) == 0
    project.build().ok()
    after = project.hashes()
    shutil.rmtree(project.out)
    project.build().ok()
    assert {name: after[name] for name in ("demo.fatbin", "demo/sm_80.ptx")} == {
        name: project.hashes()[name] for name in ("demo.fatbin", "demo/sm_80.ptx")
    }


def test_a_source_that_became_a_folder(project: Project) -> None:
    (project.folder / "kern/src/place.rs").unlink()
    (project.folder / "kern/src/place.rs").mkdir()
    built = project.build()
    assert built.code == 1 and "Is a directory" in built.stderr
    assert "Traceback" not in built.stderr


def test_an_output_that_became_a_folder(project: Project) -> None:
    project.build().ok()
    (project.out / "demo.fatbin").unlink()
    (project.out / "demo.fatbin").mkdir()
    (project.out / "demo.fatbin/mine.txt").write_text("mine")
    built = project.build()
    assert (built.code, built.stderr) == (
        2,
        "error[FC0122]: fatcrate-out/demo.fatbin: is a folder; the build writes a file of that"
        " name\n  help: move it away\n",
    )
    assert (project.out / "demo.fatbin/mine.txt").exists()


def test_line_ends_and_byte_order_marks(project: Project) -> None:
    """Of other systems: the code is the same, and places in messages are right."""
    for path in [*project.folder.rglob("*.rs"), project.folder / "fatcrate.yaml"]:
        if project.out not in path.parents:
            text = path.read_bytes().replace(b"\n", b"\r\n")
            path.write_bytes(b"\xef\xbb\xbf" + text)
    before = project.hashes()
    project.build().ok()
    for name in ("demo/sm_80.ptx", "demo.fatbin"):
        assert project.hashes()[name] == before[name]
    path = project.folder / "fatcrate.yaml"
    path.write_bytes(path.read_bytes().replace(b"version: 1", b"version: 3"))
    assert project.build().stderr == (
        "error[FC0112]: version: cannot be '3'\n  --> fatcrate.yaml:1:10\n   |  version: 3\n"
        "   |           ^\n  help: values: 1\n"
    )


def test_links_that_go_round(project: Project) -> None:
    (project.folder / "kern/src/self").symlink_to(".")
    (project.folder / "kern/up").symlink_to("..")
    assert project.build().ok().steps == []
    project.edit("fatcrate.yaml", "util.rs", "round.rs")
    (project.folder / "round.rs").symlink_to("round.rs")
    built = project.build()
    assert built.code == 1 and "FC0117" in built.stderr


def test_outputs_on_another_file_system(project: Project) -> None:
    if not os.access("/dev/shm", os.W_OK) or os.stat("/dev/shm").st_dev == os.stat("/tmp").st_dev:
        pytest.skip("there is no other file system")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as out:
        project.build("--out", out).ok()
        assert project.build("--out", out).ok().steps == []
        assert project.hashes(Path(out))["demo.fatbin"] == project.hashes()["demo.fatbin"]

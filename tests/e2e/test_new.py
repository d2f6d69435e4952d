"""`fatcrate new`: every template builds at once, and does what its README says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fatcrate.rules import new
from support import bazel
from support.bazel import Workspace

FATCRATE = Path(sys.executable).with_name("fatcrate")


def run(folder: Path, *argv: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs a program with the interpreter's folder in PATH."""
    path = f"{FATCRATE.parent}:{os.environ['PATH']}"
    return subprocess.run(
        argv,
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def make(folder: Path, name: str, template: str) -> Path:
    done = run(folder, FATCRATE, "new", name, "--template", template)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"fatcrate: made {name}; next: cd {name} && ")
    return folder / name


def ok(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_plain(tmp_path: Path) -> None:
    project = make(tmp_path, "my-first", "plain")
    done = run(project, FATCRATE, "build")
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    assert (project / "fatcrate-out/my_first.fatbin").exists()
    ok(run(project, FATCRATE, "clippy", "--", "-Dwarnings"))
    ok(run(project, FATCRATE, "fmt", "--check"))
    ok(run(project, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"))
    ok(run(project, sys.executable, "-m", "ruff", "check", "."))


def test_cpp(tmp_path: Path) -> None:
    project = make(tmp_path, "vision", "cpp")
    assert "nothing was run: no CUDA driver is installed" in ok(run(project, "make", "run"))
    before = (project / "vision").stat().st_mtime_ns
    ok(run(project, "make", "run"))
    assert (project / "vision").stat().st_mtime_ns == before
    source = project / "src/lib.rs"
    source.write_text(source.read_text().replace("*y.add(i) +=", "*y.add(i) -="))
    ok(run(project, "make"))
    assert (project / "vision").stat().st_mtime_ns != before
    ok(run(project, "make", "clean"))
    assert not (project / "fatcrate-out").exists() and not (project / "vision").exists()


def test_python(tmp_path: Path) -> None:
    project = make(tmp_path, "vision", "python")
    done = run(project, FATCRATE, "build", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    text = ok(run(project, sys.executable, "host.py"))
    assert text == "vision: 1000 elements are right on the CPU, since there is no GPU\n"


def test_bazel(tmp_path: Path) -> None:
    project = make(tmp_path, "vision", "bazel")
    with (project / ".bazelrc").open("a") as stream:
        stream.write("build:offline --experimental_repository_disable_download\n")
    workspace = Workspace(project, tmp_path / "bazel")
    try:
        workspace.run("build", "//...")
        assert "nothing was run" in ok(run(project, project / ".out/bin/host"))
        program = f"bazel --nohome_rc --output_user_root={tmp_path / 'bazel'}"
        ok(run(project, FATCRATE, "rust-project", "--bazel", "--bazel-program", program))
        found = json.loads((project / "rust-project.json").read_text())["crates"]
        assert [crate["display_name"] for crate in found] == ["gpu", "vision"]
        assert found[1]["root_module"] == str(project / "src/lib.rs")
        assert found[1]["deps"] == [{"crate": 0, "name": "gpu"}]
        assert found[1]["is_workspace_member"] and not found[0]["is_workspace_member"]
        done = run(
            project, FATCRATE, "rust-project", "--bazel", "//gone", "--bazel-program", program
        )
        assert done.returncode == 1
        assert done.stderr.startswith("error[FC0130]: bazel: aquery failed\n  note: ERROR: ")
    finally:
        workspace.close()
    assert bazel.CHECKOUT.is_dir()


@pytest.mark.parametrize("name", ["3d", "loop", "gpu", "a b", "ümlaut", "-x", "", "null", "True"])
def test_names_that_cannot_be(tmp_path: Path, name: str) -> None:
    done = run(tmp_path, FATCRATE, "new", "--", name)
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"error[FC0119]: {name or 'an empty name'}: cannot be the name of a crate"
    )
    assert list(tmp_path.iterdir()) == []


def test_the_folder_that_one_is_in(tmp_path: Path) -> None:
    folder = tmp_path / "vision"
    folder.mkdir()
    number = folder.stat().st_ino
    done = run(folder, FATCRATE, "new", ".")
    assert (done.returncode, done.stderr) == (
        0,
        "fatcrate: made .; next: cd . && fatcrate build\n",
    )
    assert folder.stat().st_ino == number and (folder / "src/lib.rs").exists()
    assert run(folder, FATCRATE, "build", "--dry-run").returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["vision"]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    make(tmp_path, "taken", "plain")
    done = run(tmp_path, FATCRATE, "new", "taken")
    assert done.returncode == 1
    assert done.stderr == (
        "error[FC0125]: taken: is there already and holds something\n  help: choose a new folder\n"
    )
    (tmp_path / "file").write_text("x")
    assert run(tmp_path, FATCRATE, "new", "file").returncode == 1


def test_templates_have_no_name_left() -> None:
    for template in new.TEMPLATES:
        made = new.files(template, {"my_kernels": "other", "FATCRATE": "/fc"})
        assert "README.md" in made
        for name, text in made.items():
            assert "my_kernels" not in name + text and "FATCRATE" not in text

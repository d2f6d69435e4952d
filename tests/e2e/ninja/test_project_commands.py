"""check, clippy, fmt, clean, rust-project."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from support.ninja import FATCRATE, FILES, Project


def fatcrate(project: Project, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [FATCRATE, *argv],
        cwd=project.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


WARNING = """\
warning: unused variable: `unused`
 --> util.rs:3:9
"""


def test_check_tells_all_each_time(project: Project) -> None:
    project.edit("util.rs", "a + a", "let unused = 1;\n    a + a")
    first = fatcrate(project, "check")
    assert first.returncode == 0, first.stderr
    assert "[1/5] check" in first.stderr and WARNING in first.stderr
    second = fatcrate(project, "check")
    assert second.returncode == 0
    assert second.stderr.startswith(WARNING)
    assert second.stderr.endswith(
        "fatcrate: nothing changed since the last check; what rustc said before is above\n"
    )
    project.edit("util.rs", "let unused = 1;\n    a + a", "a + a")
    third = fatcrate(project, "check")
    assert "warning" not in third.stderr and "check util" in third.stderr
    assert fatcrate(project, "check").stderr == ("fatcrate: nothing changed since the last check\n")


def test_check_goes_on_after_an_error(project: Project) -> None:
    project.edit("util.rs", "a + a", "b")
    project.edit("mathlib.rs", "a * x + y", "c")
    done = fatcrate(project, "check")
    assert done.returncode == 1
    assert "cannot find value `b`" in done.stderr and "cannot find value `c`" in done.stderr
    assert fatcrate(project, "check", "kern").stderr.count("error[E0425]") == 1


def test_check_builds_nothing(project: Project) -> None:
    before = project.hashes()
    project.edit("util.rs", "a + a", "a * a")
    assert fatcrate(project, "check").returncode == 0
    assert project.hashes() == before
    assert "compile util" in project.build().ok().steps


def test_check_for_editors(project: Project) -> None:
    project.edit("util.rs", "a + a", "let unused = 1;\n    b")
    for _ in range(2):
        done = fatcrate(project, "check", "--message-format", "json")
        assert (done.returncode, done.stderr) == (1, "")
        found = [json.loads(line) for line in done.stdout.splitlines()]
        codes = [one["code"]["code"] for one in found if one["code"]]
        assert codes == ["E0425"]
        assert found[0]["spans"][0]["file_name"] == "util.rs"


def test_check_of_unknown_targets(project: Project) -> None:
    done = fatcrate(project, "check", "utli")
    assert done.returncode == 2
    assert done.stderr == (
        "error[FC0120]: utli: there is no such target\n"
        "  help: did you mean 'util'? targets: demo, gpu, kern, mathlib, other, util\n"
    )


def test_clippy(project: Project) -> None:
    assert fatcrate(project, "clippy").stderr == (
        "fatcrate: clippy has seen mathlib, util, kern, other\n"
    )
    project.edit("util.rs", "a + a", "return a + a;")
    for _ in range(2):  # always anew
        done = fatcrate(project, "clippy")
        assert done.returncode == 0
        assert "warning: unneeded `return` statement\n --> util.rs:3:5\n" in done.stderr
    done = fatcrate(project, "clippy", "util", "--", "-Dwarnings")
    assert done.returncode == 1
    assert "error: unneeded `return` statement" in done.stderr
    assert done.stderr.endswith("fatcrate: clippy refuses util\n")
    assert "clippy has seen" not in done.stderr


def test_fmt(project: Project) -> None:
    assert fatcrate(project, "fmt", "--check").returncode == 0
    project.edit("kern/src/place.rs", "    gpu", "gpu")
    done = fatcrate(project, "fmt", "--check")
    assert done.returncode == 1 and done.stdout.startswith("Diff in kern/src/place.rs:")
    assert "\x1b" not in done.stdout
    assert fatcrate(project, "fmt", "util").returncode == 0
    assert fatcrate(project, "fmt", "--check").returncode == 1
    assert fatcrate(project, "fmt").returncode == 0
    assert (project.folder / "kern/src/place.rs").read_text() == FILES["kern/src/place.rs"]


def test_clean(project: Project) -> None:
    fatcrate(project, "check")
    (project.out / "mine.txt").write_text("mine")
    done = fatcrate(project, "clean")
    assert done.returncode == 0
    assert [path.name for path in project.out.iterdir()] == ["mine.txt"]
    assert fatcrate(project, "clean").stderr == "fatcrate: nothing to remove\n"
    (project.out / "mine.txt").unlink()
    project.build().ok()
    assert fatcrate(project, "clean").stderr.startswith("fatcrate: removed ")
    assert not project.out.exists()


def test_clean_leaves_what_a_link_leads_to(project: Project, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.rmtree(project.out)
    project.out.symlink_to(elsewhere)
    fatcrate(project, "check")
    assert fatcrate(project, "clean").stderr.startswith("fatcrate: removed ")
    assert project.out.is_symlink() and list(elsewhere.iterdir()) == []


def test_rust_project(project: Project) -> None:
    project.write({"pm.rs": "extern crate proc_macro;\n"})
    project.edit(
        "fatcrate.yaml",
        "util: {path: util.rs}",
        "util: {path: util.rs, deps: [pm], features: [fast]}\n"
        "  pm: {path: pm.rs, proc_macro: true}",
    )
    done = fatcrate(project, "rust-project")
    assert (done.returncode, done.stderr) == (0, "fatcrate: wrote rust-project.json\n")
    assert fatcrate(project, "rust-project").stderr == (
        "fatcrate: is as it was: rust-project.json\n"
    )
    found = json.loads((project.folder / "rust-project.json").read_text())
    crates = {crate["display_name"]: crate for crate in found["crates"]}
    order = [crate["display_name"] for crate in found["crates"]]
    for crate in found["crates"]:
        assert Path(crate["root_module"]).is_file()
        for dep in crate["deps"]:
            assert dep["crate"] < order.index(crate["display_name"])
    assert [order[dep["crate"]] for dep in crates["kern"]["deps"]] == ["gpu", "mathlib"]
    assert 'target_arch="nvptx64"' in crates["util"]["cfg"]
    assert 'feature="fast"' in crates["util"]["cfg"]
    assert "debug_assertions" not in crates["util"]["cfg"]
    assert crates["util"]["target"] == "nvptx64-nvidia-cuda"
    assert crates["pm"]["is_proc_macro"] and "target" not in crates["pm"]
    assert crates["pm"]["proc_macro_dylib_path"] == str(project.out / "crates/pm/libpm.so")
    assert (crates["kern"]["is_workspace_member"], crates["gpu"]["is_workspace_member"]) == (
        *(True, False),
    )
    assert Path(found["sysroot_src"], "core/src/lib.rs").is_file()
    text = fatcrate(project, "rust-project", "--output", "-").stdout
    assert json.loads(text) == found

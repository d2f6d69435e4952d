"""`fatcrate import`: projects that use what cargo can configure, and ones that are refused.

The packages are all path packages, so that cargo needs neither network nor cache.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fatcrate import cpu

HERE = Path(__file__).parent
DEMO_FACTS = [11, 7, 1, 42, 0, 77, 12, 5]


def fatcrate(*argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "fatcrate"]
    return subprocess.run([*program, *argv], cwd=cwd, capture_output=True, text=True, check=False)


def copy(name: str, place: Path, root: Path) -> Path:
    """A case's project, with the place of the device library filled in."""
    shutil.copytree(HERE / name, place)
    for manifest in place.rglob("Cargo.toml"):
        text = manifest.read_text()
        manifest.write_text(text.replace("@GPU@", str(root / "toolchain/device/gpu")))
    return place


def ok(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """The project, imported and built."""
    place = copy("project", tmp_path_factory.mktemp("import") / "one", root)
    ok(fatcrate("import", "--offline", cwd=place))
    ok(fatcrate("build", cwd=place))
    return place


def test_every_way_of_configuring_reaches_the_kernel(project: Path) -> None:
    out = np.zeros(8, dtype=np.uint32)
    target = project / "fatcrate-out" / "demo"
    with cpu.Module(target / "linked.bc", f"{target}.manifest.json") as module:
        module.launch("facts", grid=1, block=1, args=[out])
    assert out.tolist() == DEMO_FACTS


def test_names_places_and_versions(tmp_path: Path, root: Path) -> None:
    """Dashes, `[lib] path` and `name`, `build`, editions 2015 to 2024, one crate in two versions,
    inherited dependencies, features of another world, metadata of `links`."""
    place = copy("odd", tmp_path / "odd", root)
    ok(fatcrate("import", "--offline", "-p", "kern-els", "--archs", "sm_80", cwd=place))
    text = (place / "fatcrate.yaml").read_text()
    assert "{one: num-1.0.0}, {two: num-2.0.0}" in text
    ok(fatcrate("build", cwd=place))
    out = np.zeros(9, dtype=np.uint32)
    target = place / "fatcrate-out" / "kern-els"
    with cpu.Module(target / "linked.bc", f"{target}.manifest.json") as module:
        module.launch("facts", grid=1, block=1, args=[out])
    assert out.tolist() == [77, len("kern-els"), 10, 21, 2, 42, 7, 77, len("kernels_lib")]


@pytest.mark.parametrize("resolver", ["1", "2", "3"])
def test_resolvers(tmp_path: Path, root: Path, resolver: str) -> None:
    """With the first, what a proc macro asks for counts on the device; the remedy says so."""
    place = copy("odd", tmp_path / "odd", root)
    manifest = place / "Cargo.toml"
    text = manifest.read_text().replace('resolver = "2"', f'resolver = "{resolver}"')
    manifest.write_text(text)
    done = fatcrate("import", "--offline", "-p", "kern-els", cwd=place)
    if resolver != "1":
        ok(done)
        return
    assert done.returncode == 1
    assert done.stderr == (
        "error[FC0152]: mid 0.3.1: needs `std`: it is not #![no_std]"
        " while its feature `std` is on\n"
        "  note: pulled in by kern-els 0.3.1 -> mid 0.3.1\n"
        '  help: write `resolver = "2"` into the [workspace] or [package] of the root Cargo.toml:'
        " then features that only procedural macros, build scripts or tests ask for do not count"
        " here\n"
    )


def test_the_project_file(project: Path) -> None:
    text = (project / "fatcrate.yaml").read_text()
    assert text == (HERE / "project.yaml").read_text()


def test_a_second_import_changes_nothing(project: Path) -> None:
    assert "unchanged: fatcrate.yaml" in ok(fatcrate("import", "--offline", cwd=project))
    assert ok(fatcrate("import", "--offline", "--check", cwd=project)) == ""


def test_bytes_do_not_depend_on_the_folder(project: Path, tmp_path: Path, root: Path) -> None:
    other = copy("project", tmp_path / "another place", root)
    ok(fatcrate("import", "--offline", cwd=other))
    ok(fatcrate("build", cwd=other))
    names = ["demo.fatbin", "demo/linked.bc", "crates/consts/libconsts.rlib"]
    names += [f"crates/consts/script/{name}" for name in ("flags.json", "out/root.rs")]
    for name in names:
        one, two = (place / "fatcrate-out" / name for place in (project, other))
        assert one.read_bytes() == two.read_bytes(), name
    made = (other / "fatcrate-out/crates/consts/script/out/root.rs").read_text()
    assert str(tmp_path) not in made


def test_an_edit_of_what_a_script_reads_reruns_it(project: Path, tmp_path: Path) -> None:
    place = tmp_path / "edited"
    shutil.copytree(project, place)
    ok(fatcrate("build", cwd=place))
    numbers = place / "consts" / "numbers.txt"
    numbers.write_text("2 3 5 9 11\n")
    done = fatcrate("build", cwd=place)
    said = ok(done) + done.stderr
    assert "run the build script of consts" in said
    assert "compile mathlib" not in said
    out = np.zeros(8, dtype=np.uint32)
    target = place / "fatcrate-out" / "demo"
    with cpu.Module(target / "linked.bc", f"{target}.manifest.json") as module:
        module.launch("facts", grid=1, block=1, args=[out])
    assert out[1] == 9


def test_kernels_below_the_line_are_kept(project: Path, tmp_path: Path) -> None:
    place = tmp_path / "kept"
    shutil.copytree(project, place, ignore=shutil.ignore_patterns("fatcrate-out"))
    file = place / "fatcrate.yaml"
    file.write_text(file.read_text().replace("archs: [sm_80, compute_80]", "archs: [sm_90]"))
    ok(fatcrate("import", "--offline", cwd=place))
    assert "archs: [sm_90]" in file.read_text()


def test_targets_are_kept_without_the_line(project: Path, tmp_path: Path) -> None:
    place = tmp_path / "line"
    shutil.copytree(project, place, ignore=shutil.ignore_patterns("fatcrate-out"))
    file = place / "fatcrate.yaml"
    wanted = file.read_text().replace("archs: [sm_80, compute_80]", "archs: [sm_90]")
    lines = [line for line in wanted.splitlines() if "stands below this line" not in line]
    file.write_text("\n".join(lines) + "\n")
    ok(fatcrate("import", "--offline", cwd=place))
    assert file.read_text() == wanted


def test_kept_targets_that_do_not_fit_are_told(project: Path, tmp_path: Path) -> None:
    place = tmp_path / "gone"
    shutil.copytree(project, place, ignore=shutil.ignore_patterns("fatcrate-out"))
    done = fatcrate("import", "--offline", "-p", "helper", cwd=place)
    assert done.returncode == 0
    assert done.stdout.endswith("1 crate; kernels: demo\n")
    assert re.sub(r":\d+:", ":N:", done.stderr) == (
        "warning[FC0162]: helper: is in no target of fatcrate.yaml\n"
        "  help: write one below the line: helper: {crates: [helper], …}\n"
        "warning[FC0162]: kernels.demo: names the crate 'kern', which is not there\n"
        "  --> fatcrate.yaml:N:14\n"
        "   |      crates: [kern]\n"
        "   |               ^\n"
        "  help: name another crate, or take the target out\n"
    )


def test_a_file_written_by_hand_is_left_alone(tmp_path: Path, root: Path) -> None:
    place = copy("project", tmp_path / "hand", root)
    (place / "fatcrate.yaml").write_text("version: 1\n")
    done = fatcrate("import", "--offline", cwd=place)
    assert done.returncode == 2
    assert done.stderr == (
        "error[FC0156]: fatcrate.yaml: is not a file that `fatcrate import` made\n"
        "  help: remove it, or name another file with --output\n"
    )
    assert (place / "fatcrate.yaml").read_text() == "version: 1\n"


def test_std_is_refused_with_chain_and_remedy(tmp_path: Path, root: Path) -> None:
    place = copy("std", tmp_path / "std", root)
    done = fatcrate("import", "--offline", cwd=place)
    assert done.returncode == 1
    assert done.stderr == (
        "error[FC0152]: bare 0.1.0: needs `std`: it does not declare #![no_std]\n"
        "  note: pulled in by app 0.1.0 -> bare 0.1.0\n"
        "  help: bare has no feature that turns `std` off: use another crate\n"
        "error[FC0152]: leaf 0.1.0: needs `std`: it is not #![no_std]"
        " while its feature `std` is on\n"
        "  note: pulled in by app 0.1.0 -> middle 0.1.0 (feature `std`)"
        " -> leaf 0.1.0 (feature `std`)\n"
        "  help: in app's Cargo.toml give `middle` `default-features = false`\n"
    )
    assert not (place / "fatcrate.yaml").exists()


def test_the_remedy_works(tmp_path: Path, root: Path) -> None:
    place = copy("std", tmp_path / "mended", root)
    manifest = place / "app" / "Cargo.toml"
    text = manifest.read_text().replace('bare = { path = "../bare" }\n', "")
    manifest.write_text(text.replace('"../middle"', '"../middle", default-features = false'))
    ok(fatcrate("import", "--offline", cwd=place))


def test_native_libraries_are_refused(tmp_path: Path, root: Path) -> None:
    place = copy("native", tmp_path / "native", root)
    ok(fatcrate("import", "--offline", cwd=place))
    done = fatcrate("build", "native", "--archs", "sm_80", cwd=place)
    assert done.returncode == 1
    assert (
        "error[FC0153]: native: its build script links the native library 'z'\n"
        "  help: turn off the feature that needs the library, or use a crate in pure Rust\n"
    ) in done.stderr + done.stdout


def test_cargo_errors_are_shown(tmp_path: Path, root: Path) -> None:
    place = copy("native", tmp_path / "broken", root)
    with open(place / "Cargo.toml", "a") as stream:
        stream.write('\n[dependencies]\nnowhere = { path = "nowhere" }\n')
    done = fatcrate("import", "--offline", cwd=place)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error[FC0151]: {place}/Cargo.toml: cargo metadata: failed to")
    assert "nowhere/Cargo.toml" in done.stderr
    done = fatcrate("import", "none/Cargo.toml", cwd=place)
    assert done.returncode == 1
    assert done.stderr == (
        "error[FC0151]: none/Cargo.toml: there is no such file\n"
        "  help: name the Cargo.toml of a package or workspace\n"
    )


BAD_TABLES = """
[workspace]
members = ["second"]

[workspace.metadata]
fatcrate = { host = "x64", archs = [
  "sm_80", # between
  "sm_9O",
] }

[package.metadata.fatcrate]
arch = ["sm_80"]
exports = []
opt_level = 3
archs = ["sm_80", 90]
kernels = "crates"
"""


def test_faults_of_tables_come_together_with_places(tmp_path: Path, root: Path) -> None:
    place = copy("native", tmp_path / "table", root)
    manifest = place / "Cargo.toml"
    start = len(manifest.read_text().splitlines())
    with open(manifest, "a") as stream:
        stream.write(BAD_TABLES)
    (place / "second" / "src").mkdir(parents=True)
    (place / "second" / "src" / "lib.rs").write_text("#![no_std]\n")
    (place / "second" / "Cargo.toml").write_text(
        '[package]\nname = "second"\n[package.metadata]\nfatcrate.archs = "sm_85"\n'
    )
    done = fatcrate("import", "--offline", cwd=place)
    assert done.returncode == 1
    found = re.findall(r"error\[(\w+)\]: ([^\n]+?)\n  --> Cargo.toml:(\d+):(\d+)", done.stderr)
    lines = manifest.read_text().split("\n")
    seen = [
        (code, what, re.split("[ ,}]", lines[int(line) - 1][int(column) - 1 :])[0])
        for code, what, line, column in found
        if int(line) > start
    ]
    assert seen == [
        ("FC0112", "workspace.metadata.fatcrate.host: cannot be 'x64'", '"x64"'),
        ("FC0210", "sm_9O: is not an architecture", '"sm_9O"'),
        ("FC0111", "package.metadata.fatcrate: has no key 'arch'", "arch"),
        ("FC0112", "package.metadata.fatcrate.exports: names no kernel", "[]"),
        ("FC0111", "package.metadata.fatcrate: has no key 'opt_level'", "opt_level"),
        ("FC0210", "90: is not an architecture", "90]"),
        ("FC0159", "package.metadata.fatcrate.kernels: 'crates' is taken", '"crates"'),
    ]
    assert "\n  --> second/Cargo.toml:4:18\n   |  fatcrate.archs = " in done.stderr
    assert "do not know sm_85" in done.stderr
    assert not (place / "fatcrate.yaml").exists()


def test_a_table_of_another_kind(tmp_path: Path, root: Path) -> None:
    place = copy("native", tmp_path / "table", root)
    manifest = place / "Cargo.toml"
    line = len(manifest.read_text().splitlines()) + 2
    with open(manifest, "a") as stream:
        stream.write("\n[package.metadata]\nfatcrate = true\n".replace("\n[", "[", 1))
    done = fatcrate("import", "--offline", cwd=place)
    assert done.returncode == 1
    assert done.stderr == (
        "error[FC0112]: package.metadata.fatcrate: must be a mapping, not 'true'\n"
        f"  --> Cargo.toml:{line}:12\n   |  fatcrate = true\n   |             ^\n"
    )


def test_archs_of_the_command_line_are_checked(tmp_path: Path, root: Path) -> None:
    place = copy("native", tmp_path / "archs", root)
    done = fatcrate("import", "--offline", "--archs", "sm_85,all-major,volta", cwd=place)
    assert done.returncode == 1
    assert "do not know sm_85; nearest: sm_80, sm_86" in done.stderr
    assert "volta: is not an architecture" in done.stderr
    assert not (place / "fatcrate.yaml").exists()


def test_a_table_says_what_the_target_is_like(tmp_path: Path, root: Path) -> None:
    place = copy("native", tmp_path / "good", root)
    with open(place / "Cargo.toml", "a") as stream:
        stream.write('[package.metadata.fatcrate]\nkernels = "k2"\narchs = "sm_80, 9.0+PTX"\n')
    ok(fatcrate("import", "--offline", cwd=place))
    kept = (place / "fatcrate.yaml").read_text().partition("kernels:\n")[2]
    assert kept == '  k2:\n    crates: [native]\n    archs: [sm_80, "9.0+PTX"]\n'


def test_two_targets_of_one_name(tmp_path: Path, root: Path) -> None:
    place = copy("native", tmp_path / "twice", root)
    with open(place / "Cargo.toml", "a") as stream:
        stream.write('[workspace]\nmembers = ["second"]\n[workspace.metadata.fatcrate]\n')
        stream.write('kernels = "same"\n')
    (place / "second" / "src").mkdir(parents=True)
    (place / "second" / "src" / "lib.rs").write_text("#![no_std]\n")
    (place / "second" / "Cargo.toml").write_text('[package]\nname = "second"\n')
    done = fatcrate("import", "--offline", "-p", "second", "-p", "native", cwd=place)
    assert done.returncode == 1
    assert "error[FC0159]: second: the kernel target 'same' is there twice" in done.stderr
    assert "help: give each package a `kernels` of its own" in done.stderr


@pytest.mark.parametrize("place", ["vendor", "../elsewhere"])
def test_vendored_sources(tmp_path: Path, root: Path, place: str) -> None:
    """A folder in place of the registry: taken as it is in the project, else copied into it."""
    project = copy("native", tmp_path / "project", root)
    (project / "build.rs").unlink()
    with open(project / "Cargo.toml", "a") as stream:
        stream.write('\n[dependencies]\nleaf = "1"\n')
    leaf = project / place / "leaf"
    (leaf / "src").mkdir(parents=True)
    (leaf / "Cargo.toml").write_text('[package]\nname = "leaf"\nversion = "1.0.0"\n')
    (leaf / "src" / "lib.rs").write_text("#![no_std]\n")
    (leaf / ".cargo-checksum.json").write_text(f'{{"files": {{}}, "package": "{"0" * 64}"}}')
    (project / ".cargo").mkdir()
    (project / ".cargo" / "config.toml").write_text(
        f'[source.crates-io]\nreplace-with = "folder"\n[source.folder]\ndirectory = "{place}"\n'
    )
    # From another folder: cargo's configuration is that of the project.
    ok(fatcrate("import", str(project), "--offline", cwd=tmp_path))
    where = "vendor/leaf" if place == "vendor" else "vendor/leaf-1.0.0"
    assert f"path: {where}/src/lib.rs" in (project / "fatcrate.yaml").read_text()
    assert (project / where / "src" / "lib.rs").read_text() == "#![no_std]\n"

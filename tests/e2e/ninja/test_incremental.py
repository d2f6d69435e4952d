"""What a change rebuilds, and what it leaves alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fatcrate.toolchain.discover import Tools
from support.ninja import YAML, Project

PER_LINK = [
    "check the ABI of demo",
    "embed demo for x86_64",
    "pack demo",
    "write the header of demo",
]
PER_ARCH = ["assemble demo for sm_80", "generate demo for compute_90", "generate demo for sm_80"]


def test_second_build_says_that_there_is_nothing_to_do(project: Project) -> None:
    before = project.hashes()
    built = project.build().ok()
    assert built.steps == []
    assert built.stderr == "fatcrate: nothing to do, fatcrate-out is up to date\n"
    assert project.hashes() == before


def test_a_copied_project_is_up_to_date(project: Project) -> None:
    """The fixture is a copy: time stamps alone are no reason to build."""
    assert project.build().ok().steps == []
    assert project.ninja("-n") == "ninja: no work to do.\n"


def test_outputs_are_those_that_are_documented(project: Project) -> None:
    assert sorted(project.hashes()) == [
        ".gitignore",
        "crates/gpu/libgpu.rlib",
        "crates/kern/libkern.rlib",
        "crates/mathlib/libmathlib.rlib",
        "crates/other/libother.rlib",
        "crates/util/libutil.rlib",
        "demo.fatbin",
        "demo.h",
        "demo.manifest.json",
        "demo.report.json",
        "demo.x86_64.o",
        "demo/compute_90.ptx",
        "demo/link.json",
        "demo/linked.bc",
        "demo/sm_80.cubin",
        "demo/sm_80.json",
        "demo/sm_80.ptx",
    ]


def test_code_edit_rebuilds_dependents_alone(project: Project) -> None:
    project.edit("mathlib.rs", "a * x + y", "a * x - y")
    built = project.build().ok()
    crates = [step for step in built.steps if step.startswith("compile")]
    assert crates == ["compile kern", "compile mathlib"]
    assert set(PER_ARCH) < set(built.steps)
    assert project.build().ok().steps == []


def test_edit_of_a_module_is_noticed(project: Project) -> None:
    project.edit("kern/src/place.rs", "gpu::global_x()", "gpu::global_x() + 1")
    built = project.build().ok()
    assert [step for step in built.steps if step.startswith("compile")] == ["compile kern"]


def test_touch_stops_at_the_crate(project: Project) -> None:
    os.utime(project.folder / "mathlib.rs")
    assert project.build().ok().steps == ["compile mathlib"]


def test_comment_edit_stops_before_code_generation(project: Project) -> None:
    project.edit("mathlib.rs", "// A comment.", "// Another comment,\n// longer.")
    before = (project.out / "demo.fatbin").stat().st_mtime_ns
    assert project.build().ok().steps == ["compile kern", "compile mathlib", "link demo"]
    assert (project.out / "demo.fatbin").stat().st_mtime_ns == before


def test_another_arch_compiles_and_links_nothing(project: Project) -> None:
    project.edit("fatcrate.yaml", "sm_80, ", "sm_80, sm_90, ")
    built = project.build().ok()
    new = ["assemble demo for sm_90", "generate demo for sm_90"]
    assert built.steps == sorted([*new, *PER_LINK])


def test_archs_of_the_command_line_outrank_the_file(project: Project) -> None:
    built = project.build("--archs", "sm_90,8.0").ok()
    assert [step for step in built.steps if "compile" in step or "link" in step] == []
    images = sorted(path.name for path in (project.out / "demo").glob("*.cubin"))
    assert images == ["sm_80.cubin", "sm_90.cubin"]
    assert not (project.out / "demo/compute_90.ptx").exists()
    project.build().ok()
    assert not (project.out / "demo/sm_90.cubin").exists()
    assert (project.out / "demo/compute_90.ptx").exists()


@pytest.mark.parametrize(
    ("old", "new", "steps"),
    [
        ("{path: util.rs}", "{path: util.rs, opt_level: 1}", ["compile util", "compile other"]),
        ("{path: util.rs}", "{path: util.rs, debug: line-directives-only}", ["compile util"]),
        ("{path: util.rs}", "{path: util.rs, cfgs: [wide]}", ["compile util", "compile other"]),
        (
            "{path: util.rs}",
            "{path: util.rs, rustc_flags: [-Cno-vectorize-loops]}",
            ["compile util"],
        ),
        (
            "host: [x86_64]",
            "host: [x86_64], compress: none",
            ["pack demo", "embed demo for x86_64"],
        ),
        ("host: [x86_64]", "host: [aarch64]", ["embed demo for aarch64"]),
        ("host: [x86_64]", "ptxas_options: [-O1]", ["assemble demo for sm_80"]),
        ("host: [x86_64]", "opt_level: 1", ["generate demo for sm_80"]),
        ("host: [x86_64]", "exports: [saxpy]", ["link demo", *PER_ARCH]),
    ],
)
def test_a_changed_flag_runs_its_step_again(
    project: Project, old: str, new: str, steps: list[str]
) -> None:
    project.edit("fatcrate.yaml", old, new)
    built = project.build().ok()
    missing = set(steps) - set(built.steps)
    assert not missing
    assert "compile mathlib" not in built.steps
    assert project.build().ok().steps == []


def test_debug_and_release_never_mix(project: Project) -> None:
    release = project.hashes()
    project.edit(
        "fatcrate.yaml",
        "version: 1\n",
        "version: 1\ndefaults: {debug: line-tables-only, opt_level: 0}\n",
    )
    project.edit("fatcrate.yaml", "host: [x86_64]", "host: [x86_64], ptxas_options: [-O0]")
    project.build().ok()
    debug = project.hashes()
    same = {name for name in release if debug.get(name) == release[name]}
    assert same <= {".gitignore", "demo.h"}
    project.write({"fatcrate.yaml": YAML}).build().ok()
    assert project.hashes() == release


def test_outputs_that_are_no_longer_made_go_away(project: Project) -> None:
    project.edit(
        "fatcrate.yaml", "  other: {path: other.rs, edition: 2024, deps: [gpu, util]}\n", ""
    )
    project.edit("fatcrate.yaml", "demo: {crates: [kern, other]", "renamed: {crates: [kern]")
    (project.out / "mine.txt").write_text("not an output\n")
    project.build().ok()
    assert [name for name in project.hashes() if "demo" in name or "other" in name] == []
    assert not (project.out / "demo").exists()
    assert not (project.out / "crates/other").exists()
    assert (project.out / "renamed.fatbin").exists()
    assert (project.out / "mine.txt").exists()


def test_another_ptxas_assembles_again(project: Project, tools: Tools, tmp_path: Path) -> None:
    other = tmp_path / "ptxas"
    other.write_bytes(Path(tools.ptxas).read_bytes() + b"\0")
    other.chmod(0o755)
    before = project.hashes()
    built = project.build(env={"FATCRATE_PTXAS": str(other)}).ok()
    assert "assemble demo for sm_80" in built.steps
    assert [step for step in built.steps if step.startswith("compile")] == []
    after = project.hashes()
    assert after["demo/sm_80.cubin"] == before["demo/sm_80.cubin"]


def test_another_rustc_compiles_again(project: Project, tools: Tools, tmp_path: Path) -> None:
    """Planned only: it would make another sysroot, since the identity of rustc is part of it."""
    other = tmp_path / "rustc"
    other.write_text(f'#!/bin/sh\nexec {tools.rustc} "$@"\n', encoding="utf-8")
    other.chmod(0o755)
    environment = {"FATCRATE_RUSTC": str(other), "FATCRATE_RUST_SRC": tools.rust_src}
    built = project.build("--dry-run", env=environment).ok()
    assert "build core and alloc for the GPU, panic=immediate-abort" in built.steps
    assert "compile mathlib" in built.steps


def test_plain_ninja_builds_too(project: Project) -> None:
    project.edit("mathlib.rs", "a * x + y", "a * x - y")
    text = project.ninja()
    assert "compile mathlib" in text and "pack demo" in text
    assert project.build().ok().steps == []


def test_plain_ninja_reads_a_changed_project_file(project: Project) -> None:
    project.edit("fatcrate.yaml", "sm_80, ", "sm_80, sm_90, ")
    text = project.ninja()
    assert "read the project file" in text and "generate demo for sm_90" in text
    assert (project.out / "demo/sm_90.cubin").exists()
    assert project.build().ok().steps == []


def test_plain_ninja_makes_an_output_by_name(project: Project) -> None:
    (project.out / "demo/sm_80.cubin").unlink()
    assert "assemble demo for sm_80" in project.ninja("demo/sm_80.cubin")


def test_every_dependency_is_declared(project: Project) -> None:
    assert "No missing dependencies" in project.ninja("-t", "missingdeps")


@pytest.mark.parametrize("name", ["build.ninja", ".fatcrate/toolchain.json", ".gitignore"])
def test_a_damaged_file_of_the_build_itself_is_written_again(project: Project, name: str) -> None:
    project.build().ok()
    old = (project.out / name).read_bytes()
    for junk in (b"\n", b"junk\n" * 2000, b""):
        (project.out / name).write_bytes(junk)
        built = project.build().ok()
        assert (project.out / name).read_bytes() == old
        assert "FC0" not in built.stderr
    assert project.build().ok().steps == []


@pytest.mark.parametrize(
    "name",
    ["demo/sm_80.cubin", "demo.fatbin", "demo.manifest.json", "crates/kern/libkern.rlib"],
)
def test_a_damaged_output_is_made_again(project: Project, name: str) -> None:
    old = project.build().ok() and project.hashes()
    (project.out / name).write_bytes(b"junk\n")
    built = project.build().ok()
    line = f"fatcrate: made again, since something changed them: {name}\n"
    assert built.stderr.startswith(line)
    assert project.hashes() == old
    assert project.build().ok().steps == []


def test_outputs_of_plain_ninja_are_not_taken_for_damaged(project: Project) -> None:
    project.build().ok()
    project.edit("mathlib.rs", "a * x + y", "a * x - y")
    project.ninja()
    assert project.build().ok().stderr == "fatcrate: nothing to do, fatcrate-out is up to date\n"
    (project.out / "demo.fatbin").write_bytes(b"junk")
    project.build("--dry-run").ok()
    assert (project.out / "demo.fatbin").read_bytes() == b"junk"
    assert "pack demo" in project.build().ok().steps

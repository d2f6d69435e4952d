"""Crates of every kind: proc macros, what serves them, build scripts, odd names and places."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from fatcrate.rules import sysroot
from fatcrate.toolchain.discover import Tools
from support.device import build_sysroot
from support.ninja import FILES, Project

KERNEL = """\
#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn store(y: *mut u32) {{
    unsafe {{ *y = {value} }};
}}
"""


def ptx(project: Project, target: str = "demo") -> str:
    return (project.out / f"{target}/compute_90.ptx").read_text(encoding="utf-8")


def test_proc_macro_with_a_library_that_serves_both_sides(fresh: Project) -> None:
    fresh.write(
        {
            "fatcrate.yaml": """\
version: 1
crates:
  number: {path: number.rs}
  answer: {path: answer, edition: 2021, proc_macro: true, deps: [number]}
  kern: {path: kern.rs, edition: 2024, deps: [answer, number]}
kernels:
  demo: {crates: [kern], archs: [compute_90]}
""",
            "number.rs": "#![no_std]\npub const NUMBER: u32 = 4242;\n",
            "answer/lib.rs": """\
use proc_macro::TokenStream;
#[proc_macro]
pub fn answer(_input: TokenStream) -> TokenStream {
    format!("{}u32", number::NUMBER + 1).parse().unwrap()
}
""",
            "kern.rs": KERNEL.format(value="answer::answer!() + number::NUMBER * 10000"),
        }
    )
    built = fresh.build().ok()
    assert "compile number" in built.steps
    assert "compile number for this machine" in built.steps
    assert "compile answer for this machine" in built.steps
    assert str(4243 + 42420000) in ptx(fresh)
    fresh.edit("answer/lib.rs", "+ 1", "+ 2")
    built = fresh.build().ok()
    assert "compile kern" in built.steps and "compile number" not in built.steps
    assert str(4244 + 42420000) in ptx(fresh)


def test_macro_of_a_library_reaches_its_users_users(fresh: Project) -> None:
    """rustc loads the proc macro that a dependency re-exports."""
    fresh.write(
        {
            "fatcrate.yaml": """\
version: 1
crates:
  answer: {path: answer.rs, proc_macro: true}
  middle: {path: middle.rs, deps: [answer]}
  kern: {path: kern.rs, edition: 2024, deps: [middle]}
kernels:
  demo: {crates: [kern], archs: [compute_90]}
""",
            "answer.rs": """\
extern crate proc_macro;
use proc_macro::TokenStream;
#[proc_macro]
pub fn answer(_input: TokenStream) -> TokenStream {
    "777u32".parse().unwrap()
}
""",
            "middle.rs": "#![no_std]\npub use answer::answer;\n",
            "kern.rs": KERNEL.format(value="middle::answer!()"),
        }
    )
    fresh.build().ok()
    assert "777" in ptx(fresh)


def test_renamed_dependencies_and_two_crates_of_one_name(fresh: Project) -> None:
    fresh.write(
        {
            "fatcrate.yaml": """\
version: 1
crates:
  value@1: {name: value, path: one/value.rs}
  value@2: {name: value, path: two/value.rs, features: [big]}
  kern: {path: kern.rs, edition: 2024, deps: [value@1, {newer: value@2}]}
kernels:
  demo: {crates: [kern], archs: [compute_90]}
""",
            "one/value.rs": "#![no_std]\n#[inline(never)]\npub fn value() -> u32 { 300 }\n",
            "two/value.rs": """\
#![no_std]
#[cfg(feature = "big")]
#[inline(never)]
pub fn value() -> u32 { 70000 }
""",
            "kern.rs": KERNEL.format(value="value::value() + newer::value()"),
        }
    )
    fresh.build().ok()
    assert "70300" in ptx(fresh)


def test_features_cfgs_and_env(fresh: Project) -> None:
    fresh.write(
        {
            "fatcrate.yaml": """\
version: 1
crates:
  kern:
    path: kern.rs
    edition: 2024
    features: [fast]
    cfgs: [wide, 'mode="x y"']
    env: {LABEL: "a b$c'd", EMPTY: ""}
kernels:
  demo: {crates: [kern], archs: [compute_90]}
""",
            "kern.rs": KERNEL.format(
                value='env!("LABEL").len() as u32 + 100 * cfg!(feature = "fast") as u32'
                ' + 1000 * cfg!(wide) as u32 + 10000 * cfg!(mode = "x y") as u32'
                ' + option_env!("HOME").is_some() as u32 + env!("EMPTY").len() as u32'
            ),
        }
    )
    built = fresh.build().ok()
    assert str(7 + 100 + 1000 + 10000) in ptx(fresh)
    assert "unexpected_cfgs" not in built.stderr
    fresh.edit("fatcrate.yaml", "a b$c'd", "a b")
    fresh.build().ok()
    assert str(3 + 100 + 1000 + 10000) in ptx(fresh)


def test_build_script(fresh: Project) -> None:
    fresh.write(
        {
            "fatcrate.yaml": """\
version: 1
crates:
  kern:
    path: pkg/src/lib.rs
    edition: 2024
    package: {dir: pkg, name: kern, version: 1.2.3}
    build_script: {path: pkg/build.rs, edition: 2021}
kernels:
  demo: {crates: [kern], archs: [compute_90]}
""",
            "pkg/src/lib.rs": 'include!(concat!(env!("OUT_DIR"), "/number.rs"));\n',
            "pkg/number.txt": "31415\n",
            "pkg/build.rs": """\
fn main() {
    println!("cargo::rerun-if-changed=number.txt");
    let number = std::fs::read_to_string("number.txt").unwrap();
    let out = std::env::var("OUT_DIR").unwrap();
    std::fs::write(format!("{out}/number.rs"), format!("const NUMBER: u32 = {number};")).unwrap();
    println!("cargo::rustc-cfg=scripted");
}
""",
        }
    )
    source = KERNEL.format(value="NUMBER + 100000 * cfg!(scripted) as u32")
    head, rest = source.split("\n", 1)
    fresh.edit("pkg/src/lib.rs", "include!", f"{head}\ninclude!")
    (fresh.folder / "pkg/src/lib.rs").open("a").write(rest)
    built = fresh.build().ok()
    assert "run the build script of kern" in built.steps
    assert "131415" in ptx(fresh)
    assert fresh.build().ok().steps == []
    fresh.edit("pkg/number.txt", "31415", "27182")
    built = fresh.build().ok()
    assert "compile the build script of kern" not in built.steps
    assert "127182" in ptx(fresh)


ODD = "a $b: 'ü\" &%#()"


def test_odd_names_of_project_crates_and_outputs(tmp_path: Path) -> None:
    """Spaces, `$`, `:`, quotes, umlauts: in the project, crates, modules and outputs."""
    folder = tmp_path / f"project {ODD}"
    folder.mkdir()
    project = Project(folder).write(
        {
            "fatcrate.yaml": f"""\
version: 1
crates:
  odd: {{path: "kern {ODD.replace('"', chr(92) + '"')}", edition: 2024, deps: [gpu]}}
kernels:
  demo: {{crates: [odd], archs: [sm_90, compute_90]}}
""",
            f"kern {ODD}/src/lib.rs": FILES["kern/src/lib.rs"]
            .replace("mod place;", f'#[path = "place {ODD.replace(chr(34), "")}.rs"]\nmod place;')
            .replace("mathlib::axpy(a, *x.add(i), *y.add(i))", "a + *x.add(i)"),
            f"kern {ODD}/src/place {ODD.replace(chr(34), '')}.rs": FILES["kern/src/place.rs"],
        }
    )
    out = tmp_path / f"out {ODD}"
    for place in (f"in {ODD}", str(out)):
        project.build("--out", place).ok()
        assert project.build("--out", place).ok().steps == []
    assert project.hashes(project.folder / f"in {ODD}") == project.hashes(out)
    module = next((project.folder / f"kern {ODD}/src").glob("place*"))
    module.write_text(module.read_text() + "\n// more\n")
    for place in (f"in {ODD}", str(out)):
        assert "compile odd" in project.build("--out", place).ok().steps
        assert project.build("--out", place).ok().steps == []


def test_a_file_that_cannot_be_tracked_is_refused(project: Project) -> None:
    project.edit(
        "util.rs", "#![no_std]", '#![no_std]\npub const T: &str = include_str!("a;b.txt");'
    )
    project.write({"a;b.txt": "text"})
    built = project.build()
    assert built.code == 1
    assert (
        "error[FC0104]: a;b.txt: Ninja cannot track a file whose name contains ';'\n"
        "  help: rename the file\n"
    ) in built.stderr


def test_rustc_diagnostics_are_unchanged(project: Project, tools: Tools) -> None:
    """Just what rustc prints by itself for the same crate."""
    project.edit("util.rs", "a + a", "let b = a;\n    let c: u32 = a +;\n    c")
    built = project.build()
    assert built.code == 1
    alone = subprocess.run(
        [tools.rustc, "--crate-type", "rlib", "--emit=metadata", "-o", "/dev/null", "util.rs"],
        cwd=project.folder,
        capture_output=True,
        text=True,
        check=False,
    ).stderr
    assert "error: expected expression, found `;`\n --> util.rs:4:21\n" in alone
    assert alone.strip() in built.stderr
    assert built.stderr.endswith("fatcrate: 1 step failed: compile util\n")
    assert "ninja" not in built.stderr


def test_warnings_do_not_fail_and_are_shown(project: Project) -> None:
    project.edit("util.rs", "a + a", "let unused = 1; a + a")
    built = project.build().ok()
    assert "warning: unused variable: `unused`" in built.stderr
    assert " --> util.rs:3:9" in built.stderr


@pytest.mark.parametrize("panic", ["abort"])
def test_panic_strategy_of_a_target(project: Project, panic: str) -> None:
    """Both kinds side by side; the crates are compiled for each. The sysroot is cached."""
    text = f"  loud: {{crates: [other], archs: [compute_90], panic: {panic}}}\n"
    (project.folder / "fatcrate.yaml").open("a").write(text)
    built = project.build().ok()
    assert [s for s in built.steps if s.startswith("compile")] == [
        "compile gpu",
        "compile other",
        "compile util",
    ]
    assert (project.out / "crates-abort/other/libother.rlib").exists()
    assert (project.out / "loud.fatbin").exists()


def test_a_prebuilt_target_is_used_as_it_is(fresh: Project, tools: Tools, tmp_path: Path) -> None:
    """A toolchain as rustup lays it out, with the target's libraries and without sources."""
    toolchain = tmp_path / "rustup/toolchains/stable"
    rustlib = toolchain / "lib/rustlib"
    prebuilt = rustlib / "nvptx64-nvidia-cuda/lib"
    prebuilt.mkdir(parents=True)
    (rustlib / tools.identity.rustc.host).symlink_to(
        Path(tools.sysroot) / "lib/rustlib" / tools.identity.rustc.host
    )
    libraries = Path(sysroot.library_folder(build_sysroot(tools, "abort")))
    for library in libraries.iterdir():
        (prebuilt / f"{library.stem}-0123abcd.rlib").symlink_to(library)
    rustc = toolchain / "bin/rustc"
    rustc.parent.mkdir()
    rustc.write_text(f'#!/bin/sh\nexec {tools.rustc} --sysroot {toolchain} "$@"\n')
    rustc.chmod(0o755)
    environment = {"FATCRATE_RUSTC": str(rustc)}
    fresh.write(FILES)
    built = fresh.build(env=environment).ok()
    assert not [step for step in built.steps if step.startswith("build core")]
    assert fresh.build(env=environment).ok().steps == []
    assert "libcore-0123abcd.rlib" in (fresh.out / "build.ninja").read_text()
    assert ".entry saxpy" in ptx(fresh)


def test_included_files_are_tracked(project: Project) -> None:
    project.edit("util.rs", "a + a", 'include!("the value.in")')
    project.write({"the value.in": "a + 2.0"})
    project.build().ok()
    project.edit("the value.in", "2.0", "3.0")
    assert project.build().ok().steps[:1] == ["assemble demo for sm_80"]
    assert "0f40400000" in ptx(project)

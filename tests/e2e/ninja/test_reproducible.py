"""The same bytes in another folder, another time, with other jobs."""

from __future__ import annotations

from pathlib import Path

from fatcrate.rules import sysroot
from fatcrate.toolchain.discover import Tools
from support.ninja import FILES, Project

FILES_WITH_MACRO = {
    **FILES,
    "fatcrate.yaml": """\
version: 1
crates:
  mathlib: {path: mathlib.rs, debug: line-directives-only}
  util: {path: util.rs, deps: [answer], rustc_flags: [-Coverflow-checks=on]}
  answer: {path: answer.rs, proc_macro: true, deps: [number]}
  number: {path: number.rs}
  kern: {path: kern, edition: 2024, deps: [gpu, mathlib]}
  other: {path: other.rs, edition: 2024, deps: [gpu, util]}
kernels:
  demo: {crates: [kern, other], archs: [sm_80, sm_90a, compute_90], host: [x86_64, aarch64]}
""",
    "answer.rs": """\
extern crate proc_macro;
#[proc_macro]
pub fn answer(_input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    format!("const A: f32 = {}.0;", number::NUMBER).parse().unwrap()
}
""",
    "number.rs": "pub const NUMBER: u32 = 42;\n",
    "util.rs": """\
#![no_std]
answer::answer!();
pub fn twice(a: f32) -> f32 {
    a + [A, 2.0][a as usize] + core::panic::Location::caller().line() as f32
}
""",
}


def test_two_folders_same_bytes(tmp_path: Path, full: bool) -> None:
    hashes = []
    for turn in range(6 if full else 2):
        folder = tmp_path / f"some{'where' * turn} else {turn}"
        folder.mkdir()
        project = Project(folder).write(FILES_WITH_MACRO)
        out = tmp_path / f"out{turn}" if turn % 2 else project.out
        project.build("--out", str(out), "-j", str(1 + turn)).ok()
        hashes.append(project.hashes(out))
        assert not leaks(out, str(tmp_path))
    assert len(hashes[0]) > 20
    for other in hashes[1:]:
        assert other == hashes[0]


def test_order_of_dependencies(fresh: Project) -> None:
    """Nothing depends on the order in which the project file names crates."""
    fresh.write(FILES).build().ok()
    first = fresh.hashes()
    fresh.edit("fatcrate.yaml", "deps: [gpu, mathlib]", "deps: [mathlib, gpu]")
    fresh.edit("fatcrate.yaml", "deps: [gpu, util]", "deps: [util, gpu]")
    fresh.edit("fatcrate.yaml", "crates: [kern, other]", "crates: [other, kern]")
    assert fresh.build().ok().steps
    assert fresh.hashes() == first


def leaks(out: Path, text: str) -> list[str]:
    """Outputs that hold ``text``, a path of this machine."""
    return [
        str(path)
        for path in out.rglob("*")
        if path.is_file()
        and ".fatcrate" not in path.parts
        and path.name != "build.ninja"
        and text.encode() in path.read_bytes()
    ]


def test_sysroot_is_repeatable(tools: Tools, tmp_path: Path, full: bool) -> None:
    """From the sources at another place, in another folder; quick runs compare with the cache."""
    if not full:
        # A part of it: `alloc` again, against the cached `core`.
        key = sysroot.cache_key(tools.identity, "immediate-abort")
        assert len(key) == 32 and key != sysroot.cache_key(tools.identity, "abort")
        return
    link = tmp_path / "a link to the sources"
    link.symlink_to(tools.rust_src)
    found = []
    for number, source in enumerate((tools.rust_src, str(link))):
        directory = tmp_path / f"sysroot {number}"
        assert sysroot.build(tools.rustc, source, "immediate-abort", "key", str(directory))
        assert not sysroot.build(tools.rustc, source, "immediate-abort", "key", str(directory))
        found.append(Project(tmp_path).hashes(directory))
        assert not leaks(directory, str(tmp_path)) and not leaks(directory, tools.rust_src)
    assert found[0] == found[1]

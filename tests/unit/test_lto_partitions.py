"""Partitions: their own modules, one manifest, no static in two of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from fatcrate.toolchain import manifest as manifests
from fatcrate.toolchain.discover import Tools
from support.device import Workshop, fatcrate

SHARED = """
#![no_std]
use core::sync::atomic::{AtomicU32, Ordering};
static HITS: AtomicU32 = AtomicU32::new(0);
#[unsafe(no_mangle)] pub static TABLE: [u32; 4] = [1, 2, 3, 4];
#[unsafe(no_mangle)] pub static mut GAIN: f32 = 1.0;
#[inline(never)] pub fn hit() -> u32 { HITS.fetch_add(1, Ordering::Relaxed) }
#[inline(never)] pub fn table(i: usize) -> u32 { TABLE[i] }
#[inline(never)] pub fn gain() -> f32 { unsafe { GAIN } }
"""
KERNELS = """
#![no_std]
#[unsafe(no_mangle)] pub static OWN_{c}: u32 = 3;
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn {c}_one(x: *mut u32, i: usize) {{ unsafe {{ *x = {body}; }} }}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn {c}_two(x: *mut u32) {{ unsafe {{ *x = 2; }} }}
"""


@pytest.fixture
def shop(tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.chdir(tmp_path)
    made = Workshop(tools, tmp_path)
    bodies = {"a": "shared::table(i)", "b": "shared::table(i) + 1", "c": "shared::hit()"}
    bodies |= {"d": "shared::hit() + 1", "e": "shared::gain() as u32", "f": "shared::gain() as u32"}
    (tmp_path / "shared.rs").write_text(SHARED)
    assert made.compile("shared", tmp_path / "shared.rs").code == 0
    for crate, body in bodies.items():
        path = tmp_path / f"{crate}.rs"
        path.write_text(KERNELS.format(c=crate, body=body))
        assert made.compile(crate, path, deps=["shared"]).code == 0
    return made


def part(shop: Workshop, *crates: str) -> str:
    name = "-".join(crates)
    outcome = shop.link(name, *(f"--kernels-of={crate}" for crate in crates))
    assert outcome.code == 0, outcome.stderr
    return f"{name}.manifest.json"


def test_a_partition_has_the_kernels_of_its_crates(shop: Workshop) -> None:
    manifest = manifests.load(part(shop, "a"))
    assert [k.name for k in manifest.kernels] == ["a_one", "a_two"]
    assert [s.name for s in manifest.statics] == ["OWN_a", "TABLE"]
    assert manifest.mutable_statics == []
    assert shop.codegen("a", "sm_80").code == 0
    ptx = shop.text("a.sm_80.ptx")
    assert "OWN_b" not in ptx and ".visible .global" in ptx


def test_the_combined_manifest_tells_the_module(shop: Workshop) -> None:
    parts = [part(shop, "a", "b"), part(shop, "c", "d"), part(shop, "e", "f")]
    outcome = fatcrate("merge-manifests", "--name", "t", "--output", "t.json", *parts)
    assert outcome.code == 0, outcome.stderr
    combined = manifests.load("t.json")
    assert {k.name: k.module for k in combined.kernels} == {
        f"{crate}_{which}": module
        for module in ("a-b", "c-d", "e-f")
        for crate in module.split("-")
        for which in ("one", "two")
    }
    assert [s.module for s in combined.statics if s.name == "TABLE"] == ["a-b"]


def test_a_static_that_is_written_must_not_be_split(shop: Workshop) -> None:
    parts = [part(shop, crate) for crate in "abcdef"]
    outcome = fatcrate("merge-manifests", "--name", "t", "--output", "t.json", *parts)
    assert outcome.code == 1
    assert outcome.stderr == (
        "error[FC0328]: GAIN: can be written, but is in the partitions e and f\n"
        "  help: put the crates that use it into one partition\n"
        "error[FC0328]: shared::HITS: can be written, but is in the partitions c and d\n"
        "  help: put the crates that use it into one partition\n"
    )
    assert not Path("t.json").exists()


def test_a_kernel_in_two_partitions(shop: Workshop) -> None:
    parts = [part(shop, "a"), part(shop, "a", "b")]
    outcome = fatcrate("merge-manifests", "--name", "t", "--output", "t.json", *parts)
    assert outcome.code == 1
    assert "error[FC0312]: a_one: is exported by the partitions a and a-b\n" in outcome.stderr


def test_an_edit_leaves_other_partitions_as_they_are(shop: Workshop) -> None:
    before = {name: Path(part(shop, name).replace("manifest.json", "bc")) for name in "ab"}
    kept = {name: path.read_bytes() for name, path in before.items()}
    source = shop.folder / "a.rs"
    source.write_text(source.read_text().replace("*x = 2", "*x = 22"))
    assert shop.compile("a", source, deps=["shared"]).code == 0
    for name in "ab":
        part(shop, name)
    assert before["b"].read_bytes() == kept["b"]
    assert before["a"].read_bytes() != kept["a"]


def test_crates_that_cannot_be_partitions(shop: Workshop) -> None:
    outcome = shop.link("x", "--kernels-of=shared", "--kernels-of=sharde")
    assert outcome.code == 1
    assert outcome.stderr == (
        "error[FC0313]: shared: is given with --kernels-of, but defines no kernel\n"
        "error[FC0314]: sharde: is given with --kernels-of, but is not linked\n"
        "  help: did you mean shared?\n"
    )

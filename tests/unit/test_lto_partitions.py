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
        "error[FC0328]: TABLE: can be set by the host, but is in the partitions a and b\n"
        "  help: put the crates that use it into one partition\n"
        "error[FC0328]: shared::HITS: can be written, but is in the partitions c and d\n"
        "  help: put the crates that use it into one partition\n"
    )
    assert not Path("t.json").exists()


def test_a_kernel_in_two_partitions(shop: Workshop) -> None:
    parts = [part(shop, "c"), part(shop, "c", "d")]
    outcome = fatcrate("merge-manifests", "--name", "t", "--output", "t.json", *parts)
    assert outcome.code == 1
    assert "error[FC0312]: c_one: is exported by the partitions c and c-d\n" in outcome.stderr


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


def merge(*options: str) -> str:
    outcome = fatcrate("merge-manifests", "--name", "t", "--output", "t.json", *options)
    assert outcome.code == 1
    return outcome.stderr


def test_single_kernels(shop: Workshop) -> None:
    outcome = shop.link("hot", "--kernels-of=a/a_two")
    assert outcome.code == 0, outcome.stderr
    outcome = shop.link("cold", "--kernels-of=a", "--kernels-of=b", "--leave=a_two")
    assert outcome.code == 0, outcome.stderr
    parts = ["hot.manifest.json", "cold.manifest.json"]
    names = [[k.name for k in manifests.load(path).kernels] for path in parts]
    assert names == [["a_two"], ["a_one", "b_one", "b_two"]]
    assert manifests.load(parts[0]).kernels_elsewhere[0] == "a/a_one"
    outcome = shop.link("none", "--kernels-of=a/b_two")
    assert outcome.stderr == (
        "error[FC0314]: b_two: is not a kernel of crate a\n  help: did you mean a_two?\n"
    )


def test_a_kernel_in_no_partition(shop: Workshop) -> None:
    crates = [(c, shop.crates[c]) for c in ("shared", "a", "b")]
    for name in ("a", "b/b_one"):
        outcome = shop.link(name[0], f"--kernels-of={name}", crates=crates)
        assert outcome.code == 0, outcome.stderr
    assert merge("a.manifest.json", "b.manifest.json").startswith(
        "error[FC0317]: b_two: of crate b is in no partition\n"
        "  help: name b or b/b_two in one, or leave it out of `exports`\n"
    )


def test_names_that_the_project_gives(shop: Workshop) -> None:
    told = merge(
        *("--export", "a_onne", "--budgeted", "a_too"),
        *("--place", "a_onne=fatcrate.yaml:7:3", "--place", "a_too=//kern:demo"),
        part(shop, *"abcdef"),
    )
    assert (
        "error[FC0329]: a_too: has a budget, but is not a kernel of the target\n"
        "  --> //kern:demo\n"
        "  help: did you mean "
    ) in told
    assert (
        "error[FC0314]: a_onne: is exported, but is a kernel of no partition\n"
        "  --> fatcrate.yaml:7:3\n"
        "  help: did you mean a_one?\n"
    ) in told


def plan(shop: Workshop, *parts: str) -> dict[str, list[str]]:
    """The crates of each partition, by a plan for all crates."""
    argv = ["partition", "--name", "t", "--output", "plan.json"]
    for crate in ("shared", *"abcdef"):
        argv += ["--crate", f"{crate}={shop.crates[crate]}"]
    argv += [word for i, c in enumerate("abcdef", 1) for word in ("--unit", f"{c}=0,{i}")]
    outcome = fatcrate(*argv, *(word for each in parts for word in ("--part", each)))
    assert outcome.code == 0, outcome.stderr
    return {name: part["kernels_of"] for name, part in shop.json("plan.json")["parts"].items()}


def test_crates_with_a_common_static_share_a_module(shop: Workshop) -> None:
    """All use crate `shared`, which has statics that are written."""
    assert plan(shop, "1", "2") == {"1": list("abcdef"), "2": []}
    for name in "12":
        outcome = shop.link(name, "--plan=plan.json")
        assert outcome.code == 0, outcome.stderr
    assert manifests.load("2.manifest.json").kernels == []
    assert shop.codegen("2", "sm_80").code == 0
    outcome = shop.link("3", "--plan=plan.json")
    assert outcome.code == 2
    assert "error[FC0340]: --plan: plan.json is not a plan with a partition '3'" in outcome.stderr


def test_crates_are_spread_by_size(shop: Workshop) -> None:
    shared = shop.folder / "shared.rs"
    shared.write_text(
        "#![no_std]\npub fn hit() -> u32 { 1 }\npub fn gain() -> f32 { 1.0 }\n"
        "pub fn table(i: usize) -> u32 { i as u32 }\n"
    )
    assert shop.compile("shared", shared).code == 0
    for crate in "abcdef":
        path = shop.folder / f"{crate}.rs"
        lines = [line for line in path.read_text().splitlines() if "static OWN" not in line]
        path.write_text("\n".join(lines))
        assert shop.compile(crate, path, deps=["shared"]).code == 0
    spread = plan(shop, "1", "2", "3")
    assert sorted(crate for found in spread.values() for crate in found) == list("abcdef")
    assert [len(found) for found in spread.values()] == [2, 2, 2]
    assert plan(shop, "1", "2", "3") == spread

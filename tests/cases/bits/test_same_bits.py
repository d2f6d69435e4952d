"""Every kernel of examples and cases leaves the same bits at every stage of the code.

``tables.toml`` says how each is launched; a kernel that no table has is a failure. (Those of
``link/`` are launched by its own test, with the same rules.)
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from fatcrate.lto import isolate
from fatcrate.lto.cpu import irtext
from fatcrate.toolchain import manifest as manifests
from fatcrate.toolchain.diagnostics import FatcrateError
from support import launches
from support.listed import MODULES, NAMES, Shelf

HERE = Path(__file__).parent
_KERNEL = re.compile(r'extern "(?:gpu|ptx)-kernel" fn|#\[(?:gpu::)?kernel\b')


@pytest.mark.parametrize("module", MODULES, ids=NAMES)
def test_same_bits(shelf: Shelf, module: dict[str, Any], full: bool) -> None:
    linked, manifest = shelf.files(module)
    kernels = {k.name: len(k.parameters) for k in manifests.load(manifest).kernels}
    missing = launches.unlisted(kernels, module["run"], module.get("not_run", {}))
    assert not missing, f"tables.toml neither launches nor excuses {missing}"
    assert launches.compare(linked, manifest, module["run"], module["source"], full) > 0


def test_every_source_of_kernels_is_in_a_table(root: Path) -> None:
    """A new example or case comes with a table."""
    sources = [root / m["source"] for m in MODULES]
    # Compiled and launched by tests of their own.
    places = ("tests/cases/link", "tests/cases/device/rows", "tests/cases/cargo/odd")
    elsewhere = [root / place for place in places]
    found = 0
    for folder in ("examples", "tests/cases"):
        for path in sorted((root / folder).rglob("*.rs")):
            parts = path.relative_to(root).parts
            if {"vendor", "fatcrate-out", "target"} & set(parts):
                continue
            if not _KERNEL.search(path.read_text(encoding="utf-8")):
                continue
            found += 1
            known = [s for s in (*sources, *elsewhere) if s == path or s in path.parents]
            assert known, f"{path.relative_to(root)} has kernels: add it to {HERE.name}/tables.toml"
    assert found > 100


def test_every_target_of_a_listed_project_is_in_a_table(root: Path) -> None:
    listed = {(m["source"], m["target"]) for m in MODULES if "target" in m}
    for source in {source for source, _ in listed}:
        text = root / source / "fatcrate.yaml"
        if text.exists():
            section = text.read_text().split("\nkernels:\n")[1]
            targets = re.findall(r"^  (\w+):", section, re.MULTILINE)
            assert targets
            assert {(source, target) for target in targets} <= listed


# --- the harness itself catches what it is for ----------------------------------------------


def test_kernel_without_a_table_is_told() -> None:
    kernels = {"one": 1, "two": 2, "three": 2}
    table = [["one", 1, 1, "f32:1"]]
    assert launches.unlisted(kernels, table, {}) == ["three", "two"]
    assert launches.unlisted(kernels, [*table, ["t*", 1, 1, "f32:1", 1]], {}) == []
    assert launches.unlisted(kernels, [*table, ["t*", 1, 1, "f32:1"]], {}) == ["t*", "three", "two"]
    assert launches.unlisted({"one": 1}, table, {"gone": "it needs what is not there"}) == ["gone"]
    with pytest.raises(AssertionError, match="a sentence"):
        launches.unlisted({"one": 1}, [], {"one": "slow"})


def saxpy(shelf: Shelf) -> tuple[Path, Path, list[Any]]:
    module = MODULES[0]
    return (*shelf.files(module), module["run"])


@pytest.mark.parametrize(
    ("short", "place"),
    [
        (["saxpy", 1, 64, "n + 1", "f32", "f32:n + 1", "f32:n"], "behind its end"),
        (["saxpy", 4, 512, "n + 1500", "f32", "f32:n + 1500", "f32:n"], "SIGSEGV|behind its end"),
    ],
)
def test_write_out_of_bounds_is_caught(shelf: Shelf, short: list[Any], place: str) -> None:
    """A buffer that is one element, or pages, too short."""
    linked, manifest, _ = saxpy(shelf)
    with pytest.raises(FatcrateError, match=f"FC060[67].*({place})"):
        launches.compare(linked, manifest, [short], "short")


def test_write_before_a_buffer_is_caught(shelf: Shelf) -> None:
    faults = next(m for m in MODULES if m["source"].endswith("faults.rs"))
    linked, manifest = shelf.files(faults)
    for line in (["write_at", 1, 1, "f32:4", -1], ["add_at", 1, 1, "f64:4", -2]):
        with pytest.raises(FatcrateError, match=r"FC0606.*before its start"):
            launches.compare(linked, manifest, [line], "before")


def mutated(linked: Path, old: str, new: str) -> bytes:
    """The module with one instruction replaced by another, as a wrong optimiser might."""

    def work() -> bytes:
        from fatcrate.lto.llvm import LlvmliteEngine

        engine = LlvmliteEngine()
        text = engine.parse_bitcode(linked.read_bytes()).text()
        assert old in text
        changed = irtext.parse(text.replace(old, new, 1)).render()
        return engine.parse_text(changed).bitcode()

    return isolate.run(work)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("fmul float", "fadd float"),
        ("fadd float", "fsub float"),
        ("icmp uge i64", "icmp ugt i64"),
        ("load float", "load volatile float"),  # harmless: the last one is not caught
    ],
)
def test_mutated_module_is_caught(shelf: Shelf, old: str, new: str) -> None:
    linked, manifest, table = saxpy(shelf)
    mutant = mutated(linked, old, new)
    if "volatile" in new:
        launches.compare(linked, manifest, table, "mutants", others=[mutant])
        return
    with pytest.raises((AssertionError, FatcrateError), match=r"differs in|FC060[67]"):
        launches.compare(linked, manifest, table, "mutants", others=[mutant])

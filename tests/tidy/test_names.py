"""Names that cross a language border: the Rust, LLVM and Starlark copies against the owners."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest
from fatcrate.rules import recipe
from fatcrate.toolchain import arch, names

#: Rust type -> LLVM type of a primitive's parameter or result.
LLVM_TYPES = {
    "u32": "i32",
    "u64": "i64",
    "f32": "float",
    "f64": "double",
    "*mut u8": "ptr",
    "bool": "i1",
    "!": "void",
    "": "void",
}

_RUST = re.compile(r"(?:pub safe fn )?(__fc_\w+)\(([^)]*)\)(?: -> ([^;{]+))?;")
_LLVM = re.compile(r"^define (?:[a-z_]+ )*?([a-z0-9]+) @(__fc_\w+)\(([^)]*)\)", re.MULTILINE)

Signature = tuple[str, tuple[str, ...]]


def rust_primitives(root: Path) -> dict[str, Signature]:
    """Name -> (LLVM result, LLVM parameters), from the device library's declarations."""
    text = (root / "toolchain/device/gpu/src/primitives.rs").read_text(encoding="utf-8")
    found = {}
    for name, parameters, result in _RUST.findall(text):
        types = [p.split(":")[1].strip() for p in parameters.split(",") if p.strip()]
        found[name] = (LLVM_TYPES[result.strip()], tuple(LLVM_TYPES[t] for t in types))
    return found


def back_ends(root: Path) -> list[Path]:
    return sorted((root / "lto/backends").glob("*.ll"))


def test_every_back_end_defines_every_primitive_alike(root: Path) -> None:
    declared = rust_primitives(root)
    assert len(declared) > 60
    for query in (names.ARCH_QUERY, names.FEATURE_QUERY):
        del declared[query]  # answered by CODEGEN
    assert {path.stem for path in back_ends(root)} >= {"nvptx", "cpu"}
    for path in back_ends(root):
        defined = {
            name: (result, tuple(p.split()[0] for p in parameters.split(",") if p.strip()))
            for result, name, parameters in _LLVM.findall(path.read_text(encoding="utf-8"))
        }
        missing = {n: s for n, s in declared.items() if defined.get(n) != s}
        assert missing == {}, path.name
        assert all(name.startswith(names.PRIMITIVE_PREFIX) for name in defined)


def test_the_queries_are_declared(root: Path) -> None:
    declared = rust_primitives(root)
    assert declared[names.ARCH_QUERY] == ("i32", ())
    assert declared[names.FEATURE_QUERY] == ("i1", ("i32",))
    assert declared[names.DYNAMIC_SHARED] == ("ptr", ())


def test_features(root: Path) -> None:
    text = (root / "toolchain/device/gpu/src/feature.rs").read_text(encoding="utf-8")
    rust = {name: int(value) for name, value in re.findall(r"^    (\w+) = (\d+),$", text, re.M)}
    assert rust == {feature.name: feature.id for feature in arch.FEATURES}
    assert sorted(rust.values()) == list(range(len(rust)))


def test_shared_memory_records(root: Path) -> None:
    text = (root / "toolchain/device/gpu/src/shared.rs").read_text(encoding="utf-8")
    assert re.findall(r'link_section = "([^"]+)"', text) == [names.META_SECTION]
    fields = re.search(r"pub struct Record \{([^}]*)\}", text)
    assert fields is not None
    assert [line.split(":")[0].strip() for line in fields[1].strip().splitlines()] == [
        "symbol",
        "size",
        "align",
    ]


def test_device_crate(root: Path) -> None:
    with open(root / "toolchain/device/gpu/Cargo.toml", "rb") as stream:
        assert tomllib.load(stream)["package"]["name"] == names.DEVICE_CRATE
    assert recipe.load().device_crate("d").name == names.DEVICE_CRATE


def test_recipe() -> None:
    loaded = recipe.load()
    assert loaded.NVPTX_TRIPLE == names.NVPTX_TRIPLE
    outputs = [Path(path).name for path in loaded.sysroot_outputs("d")]
    assert outputs == [f"lib{crate}.rlib" for crate in names.SYSROOT_CRATES]


def starlark_list(path: Path, name: str) -> list[str]:
    """A top-level list of strings, or of names of strings, in a Starlark file."""
    values: dict[str, list[str]] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            parts = node.value.elts if isinstance(node.value, ast.List) else [node.value]
            found: list[str] = []
            for part in parts:
                if isinstance(part, ast.Constant):
                    found.append(str(part.value))
                elif isinstance(part, ast.Name):
                    found += values[part.id]
            values[node.targets[0].id] = found
    return values[name]


@pytest.mark.parametrize(
    ("file", "name", "value"),
    [
        ("rules/private/host_object.bzl", "HOSTS", names.HOSTS),
        ("rules/private/transition.bzl", "PANIC_STRATEGIES", names.PANIC_STRATEGIES),
    ],
)
def test_starlark_lists(root: Path, file: str, name: str, value: tuple[str, ...]) -> None:
    assert sorted(starlark_list(root / file, name)) == sorted(value)

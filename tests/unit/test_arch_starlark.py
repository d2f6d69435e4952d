"""Both parsers of arch spellings, Python's and Starlark's, over one table."""

from __future__ import annotations

import json

import pytest
import starlark
from fatcrate.rules import recipe
from fatcrate.rules.ninja import archs
from fatcrate.toolchain import arch as python_archs
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.discover import Tools

ARCH_BZL = recipe.PRIVATE / "arch.bzl"

_NUMBERS = [f"{kind}_{number}" for kind in ("sm", "compute") for number in (75, 90, 100, 121)]
_BROKEN_NUMBERS = [
    "sm_",
    "sm_9",
    "sm_1000",
    "sm_090",
    "sm_90b",
    "sm_90af",
    "sm_9a",
    "sm90",
    "SM_90",
]
_BROKEN_DOTS = ["9", "9.", ".9", "9.00", "09.0", "0.5", "100.0", "9.0+ptx", "9.0+PTX+PTX", "9.0b"]
_BROKEN_GFX = ["gfx", "gfx9", "gfx90g", "gfx9-4", "gfx9-4-5-generic", "gfx09-generic", "gfx1_00"]
_BROKEN_OTHER = ["", "-", "native", "9.0 a", "compute_", "compute-90", "+PTX", "sm_90+PTX", "٩.٠"]
SPELLINGS = [
    *_NUMBERS,
    *(name + suffix for name in _NUMBERS for suffix in "af"),
    *(f"{dotted}{end}" for dotted in ("9.0", "12.1", "10.0") for end in ("", "a", "f", "+PTX")),
    *("9.0a+PTX", "10.0f+PTX", "gfx942", "gfx90a", "gfx1100", "gfx9-generic", "gfx9-4-generic"),
    *("gfx11-generic", "gfx12-0-generic"),
    *_BROKEN_NUMBERS,
    *_BROKEN_DOTS,
    *_BROKEN_GFX,
    *_BROKEN_OTHER,
]


def _starlark(call: str) -> object:
    """The value of a Starlark expression that may use the functions of arch.bzl."""
    names = starlark.Globals.extended_by([starlark.LibraryExtension.StructType])
    source = ARCH_BZL.read_text(encoding="utf-8") + f"\n{call}\n"
    module = starlark.Module()
    return starlark.eval(module, starlark.parse("arch.bzl", source), names)


def _fields(arch: python_archs.Arch) -> list[object]:
    return [arch.kind, arch.number, arch.suffix, str(arch), arch.target_cpu, arch.is_ptx]


_FIELDS = "[a.kind, a.number, a.suffix, a.name, a.target_cpu, a.is_ptx]"


@pytest.mark.parametrize("text", SPELLINGS)
def test_one_spelling(text: str) -> None:
    got = _starlark(f"[{_FIELDS} for a in parse_arch({json.dumps(text)})]")
    try:
        expected = [_fields(arch) for arch in python_archs.parse(text)]
    except FatcrateError:
        expected = []
    assert got == expected


@pytest.mark.parametrize(
    "texts",
    [
        ["sm_100", "sm_90a", "sm_90", "compute_90", "sm_75"],
        ["10.0 10.0a", "9.0+PTX, 12.1"],
        ["sm_100f,sm_100a,sm_100", "gfx1100 gfx942 gfx90a", "10.0"],
        ["compute_100", "compute_90a", "compute_90", ""],
    ],
)
def test_lists_are_sorted_alike(texts: list[str]) -> None:
    got = _starlark(f"[a.name for a in parse_arch_list({json.dumps(texts)})[0]]")
    assert got == [str(arch) for arch in python_archs.parse_list(texts)]


def test_all_bad_words_are_told() -> None:
    assert _starlark('parse_arch_list(["sm_90 sm_9", "x,9.0"])[1]') == ["sm_9", "x"]


@pytest.mark.parametrize("name", ["all", "all-major"])
def test_groups_are_expanded_alike(name: str, tools: Tools) -> None:
    call = f"arch_group({json.dumps(name)}, {json.dumps(tools.identity.buildable())})"
    assert _starlark(call) == [str(arch) for arch in archs.group(name, tools.identity)]

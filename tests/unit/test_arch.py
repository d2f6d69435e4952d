"""Spellings, order and features of architectures."""

from __future__ import annotations

import pytest
from fatcrate.toolchain import arch
from fatcrate.toolchain.arch import Arch
from fatcrate.toolchain.diagnostics import FatcrateError
from hypothesis import given
from hypothesis import strategies as st

nvidia = st.builds(
    Arch,
    st.sampled_from(["sm", "compute"]),
    st.integers(10, 999),
    st.sampled_from(["", "a", "f"]),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sm_90", ["sm_90"]),
        ("sm_90a", ["sm_90a"]),
        ("compute_90", ["compute_90"]),
        ("9.0", ["sm_90"]),
        ("9.0a", ["sm_90a"]),
        ("10.0f", ["sm_100f"]),
        ("12.1", ["sm_121"]),
        ("9.0+PTX", ["sm_90", "compute_90"]),
        ("gfx90a", ["gfx90a"]),
        ("gfx942", ["gfx942"]),
        ("gfx1100", ["gfx1100"]),
        ("gfx9-4-generic", ["gfx9-4-generic"]),
        ("gfx11-generic", ["gfx11-generic"]),
    ],
)
def test_spellings(text: str, expected: list[str]) -> None:
    assert [str(found) for found in arch.parse(text)] == expected


@pytest.mark.parametrize(
    "text", ["", "sm_", "sm_9", "sm_090", "sm_90b", "SM_90", "sm90", "9", "9.00", "9.0+ptx", "gfx1"]
)
def test_no_spellings(text: str) -> None:
    with pytest.raises(FatcrateError, match="FC0210"):
        arch.parse(text)


@given(nvidia)
def test_names_parse_back(item: Arch) -> None:
    assert arch.parse(str(item)) == [item]
    if item.kind == "sm" and item.number >= 10:
        assert arch.parse(item.compute_capability) == [item]


@given(st.lists(nvidia))
def test_lists_are_sorted_by_number_without_duplicates(items: list[Arch]) -> None:
    found = arch.parse_list([",".join(str(item) for item in items)])
    assert found == sorted(set(items))
    numbers = [item.number for item in found if item.kind == "sm"]
    assert numbers == sorted(numbers)


def test_ten_is_more_than_nine_and_both_tens_survive() -> None:
    found = arch.parse_list(["10.0a 9.0", "10.0,compute_90"])
    assert [str(item) for item in found] == ["sm_90", "sm_100", "sm_100a", "compute_90"]


def test_all_faults_of_a_list_together() -> None:
    with pytest.raises(FatcrateError) as caught:
        arch.parse_list(["sm_1", "sm_90", "x"])
    assert [d.subject for d in caught.value.diagnostics] == ["sm_1", "x"]


def test_one_arch_is_wanted() -> None:
    assert arch.parse_one("sm_90") == Arch("sm", 90)
    with pytest.raises(FatcrateError, match="write sm_90 or compute_90"):
        arch.parse_one("9.0+PTX")


def has(text: str, feature: str) -> bool:
    (found,) = [f for f in arch.FEATURES if f.name == feature]
    return arch.has_feature(arch.parse_one(text), found)


def test_features_follow_suffixes() -> None:
    assert has("sm_90a", "Wgmma") and not has("sm_90", "Wgmma") and not has("sm_100a", "Wgmma")
    assert has("compute_90a", "Wgmma")
    assert has("sm_100f", "Tcgen05") and not has("sm_120f", "Tcgen05")
    assert has("sm_80", "CpAsync") and not has("sm_75", "CpAsync")
    assert has("sm_121", "CpAsync")
    assert not has("gfx942", "F16Arithmetic")

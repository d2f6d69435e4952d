"""Predicates of `cfg`."""

from __future__ import annotations

import pytest
from fatcrate.rules.cargo import cfgexpr

CFGS = cfgexpr.printed_cfgs('target_arch="nvptx64"\ntarget_has_atomic="32"\npanic="abort"\n')
KNOWN = cfgexpr.knowledge(CFGS, {"fast", "std"})


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('feature = "std"', True),
        ('feature="slow"', False),
        ('not(feature = "std")', False),
        ('any(feature = "slow", target_arch = "nvptx64")', True),
        ('all(feature = "fast", not(unix), target_has_atomic = "32")', True),
        ("all()", True),
        ("any()", False),
        ("test", False),
        ("from_script", None),
        ('all(from_script, feature = "slow")', False),
        ('any(from_script, feature = "std",)', True),
        ("not(from_script)", None),
        ("true", True),
        ("false", False),
    ],
)
def test_holds(text: str, answer: bool | None) -> None:
    parsed = cfgexpr.parse(text)
    assert parsed is not None
    assert parsed[1] == ""
    assert cfgexpr.holds(parsed[0], KNOWN) is answer


@pytest.mark.parametrize("text", ["", "= 1", "all(", 'all(feature = "x"', "any(,)", "feature = 3"])
def test_what_is_no_predicate(text: str) -> None:
    assert cfgexpr.parse(text) is None


def test_the_rest_and_the_features() -> None:
    parsed = cfgexpr.parse('any(feature = "a", not(feature = "b"), unix), no_std)')
    assert parsed is not None
    assert parsed[1] == ", no_std)"
    assert parsed[0].features() == {"a", "b"}

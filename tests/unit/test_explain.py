"""``fatcrate explain``."""

from __future__ import annotations

import pytest
from fatcrate.rules import explain
from fatcrate.toolchain import arch
from fatcrate.toolchain.diagnostics import FatcrateError


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("E0308", "is a code of rustc\n  help: `rustc --explain E0308` tells what it means"),
        ("e0425", "`rustc --explain E0425`"),
        ("FC042", "help: did you mean 'FC0442'? "),
        ("nonsense", "of this fatcrate\n  help: `fatcrate explain` lists all codes"),
    ],
)
def test_codes_that_are_not_ours(code: str, message: str) -> None:
    with pytest.raises(FatcrateError) as caught:
        explain.main([code])
    assert message in str(caught.value)


def test_one_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain.main(["fc0119"]) == 0
    assert capsys.readouterr().out.startswith("FC0119: a name cannot be used\n")


@pytest.mark.parametrize(
    ("text", "near"),
    [
        *[("sm90", "sm_90"), ("SM_90a", "sm_90a"), ("compute90", "compute_90")],
        *[("all_major", "all-major"), ("sm_1000", "sm_100"), ("banana", "")],
    ],
)
def test_nearest_arch(text: str, near: str) -> None:
    with pytest.raises(FatcrateError) as caught:
        arch.parse(text)
    hint = f"did you mean '{near}'? " if near else ""
    assert f"help: {hint}write it like one of: sm_90, " in str(caught.value)

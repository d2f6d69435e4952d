"""The command line of ``fatcrate run``."""

from __future__ import annotations

import pytest
from fatcrate.lto.cpu import run
from fatcrate.rules.ninja import run as front


@pytest.mark.parametrize("value", ["-1", "-1e-3", "-0x10", "-inf", "-1.", "in:x.npy"])
def test_negative_values_are_no_options(value: str) -> None:
    args = run.parser(front).parse_args(
        run._joined(["t", "k", "--arg", value, "--arg", "2", "--list"])
    )
    assert args.arg == [value, "2"]
    assert args.names == ["t", "k"]
    assert args.list


def test_an_option_is_no_value(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run.parser(front).parse_args(run._joined(["t", "k", "--arg", "--list"]))
    assert caught.value.code == 2
    assert "argument --arg: expected one argument" in capsys.readouterr().err


def test_counts() -> None:
    assert run._count(1, "block") == "1 block"
    assert run._count(2, "thread") == "2 threads"

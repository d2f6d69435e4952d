"""Options for LLVM, which by itself ignores what it does not know."""

from __future__ import annotations

import pytest
from fatcrate.lto import llvmoptions
from fatcrate.lto.engine import Choice
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.discover import Tools

RIGHT = (
    "-unroll-threshold=100",
    "--unroll-threshold=0x10",
    "-unroll-allow-partial",
    "-unroll-allow-partial=false",
    "-nvptx-fma-level=2",
    "-regalloc=greedy",
    "-print-after-all",
)
WRONG = {
    "-xyzzy-qqqq-jjjj": "is no option of LLVM",
    "-unroll-treshold=3": "is no option of LLVM",
    "unroll-threshold=3": "does not begin with '-'",
    "-": "does not begin with '-'",
    "-unroll-threshold=abc": "takes a number, not 'abc'",
    "-unroll-threshold=": "takes a number, not ''",
    "-unroll-threshold": "needs a value",
    "-unroll-allow-partial=maybe": "is on or off, not 'maybe'",
    "-regalloc=nope": "cannot be 'nope'",
    "-help": "makes LLVM print something and stop",
    "--version": "makes LLVM print something and stop",
}


@pytest.fixture(params=["llvmlite", "libllvm"])
def engine(request: pytest.FixtureRequest, tools: Tools) -> Choice:
    return Choice(request.param, tools.libllvm if request.param == "libllvm" else "")


def test_right_options(engine: Choice) -> None:
    llvmoptions.check(engine, RIGHT)
    llvmoptions.check(engine, ())


def test_every_wrong_option_is_told(engine: Choice) -> None:
    with pytest.raises(FatcrateError) as caught:
        llvmoptions.check(engine, (*RIGHT, *WRONG))
    told = {d.message.split("'")[1]: d for d in caught.value.diagnostics}
    assert {text: d.message.split("' ", 1)[1] for text, d in told.items()} == WRONG
    assert caught.value.exit_code == 2
    near = told["-unroll-treshold=3"].remedy
    assert near.startswith("did you mean -unroll-threshold")
    assert told["-unroll-threshold"].remedy == "write -unroll-threshold=<uint>"
    assert "greedy" in told["-regalloc=nope"].remedy

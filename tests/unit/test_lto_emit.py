"""What CODEGEN reads and changes in PTX text."""

from __future__ import annotations

import pytest
from fatcrate.lto import emit
from fatcrate.toolchain.diagnostics import FatcrateError

PTX = """\
.version 8.3
.target sm_90
.visible .entry one(
.weak .entry two ()
.entry _three$(
\t// .visible .entry comment(
.extern .func .entry_like()
\t.file 1 "a \\"b\\".rs"
\t.file\t2 "c.rs"
\t.loc 1 2 3
"""


def test_entries_are_those_at_the_start_of_a_line() -> None:
    assert emit.entries(PTX) == ["one", "two", "_three$"]
    assert emit.entries("") == []


def test_a_lost_kernel_is_told() -> None:
    emit.check_kernels(["b", "a"], ["a"], "sm_90")
    with pytest.raises(FatcrateError) as caught:
        emit.check_kernels(["b"], ["a", "b", "c"], "sm_90")
    assert [(d.kind.code, d.subject) for d in caught.value.diagnostics] == [
        ("FC0317", "a"),
        ("FC0317", "c"),
    ]


def test_files_get_constant_times() -> None:
    pinned = emit.pin_files(PTX)
    assert '\t.file 1 "a \\"b\\".rs", 1, 1\n' in pinned
    assert '\t.file\t2 "c.rs", 1, 1\n' in pinned
    assert emit.pin_files(pinned) == pinned

"""Outputs of the steps that would overwrite each other or an input."""

from __future__ import annotations

from pathlib import Path

import pytest
from fatcrate.fatbin import embed, pack
from fatcrate.lto import assemble, codegen, errors, link
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.usage import distinct

LINK = ["--name", "k", "--toolchain", "t.json", "--libdevice", "d.bc"]
CODEGEN = ["--arch", "sm_80", "--toolchain", "t.json", "--manifest", "m.json"]
ASSEMBLE = ["--arch", "sm_80", "--toolchain", "t.json", "--ptxas", "ptxas"]


@pytest.mark.parametrize(
    ("main", "argv", "said"),
    [
        (
            link.main,
            [*LINK, "--output", "a", "--manifest", "./a", "--report", "b", "--map", "d.bc"],
            ["--manifest: ./a is the output of --output, too", "--map: d.bc is an input, too"],
        ),
        (
            codegen.main,
            [*CODEGEN, "--output", "a", "--remarks", "a", "k.bc"],
            ["--remarks: a is the output of --output, too"],
        ),
        (
            codegen.main,
            [*CODEGEN, "--output", "k.bc", "k.bc"],
            ["--output: k.bc is an input, too"],
        ),
        (
            assemble.main,
            [*ASSEMBLE, "--output", "a", "--report", "a", "k.ptx"],
            ["--report: a is the output of --output, too"],
        ),
        (
            embed.main,
            ["k.fatbin", "--symbol", "k", "--header", "h", "--rust", "h", "--python", "k.fatbin"],
            ["--python: k.fatbin is an input, too", "--rust: h is the output of --header, too"],
        ),
        (pack.main, ["-o", "k.cubin", "sm_80=k.cubin"], ["--output: k.cubin is an input, too"]),
    ],
)
def test_outputs_are_distinct(main: object, argv: list[str], said: list[str]) -> None:
    with pytest.raises(FatcrateError) as caught:
        main(argv)  # type: ignore[operator]
    assert [f"{d.subject}: {d.message}" for d in caught.value.diagnostics] == said
    assert {d.kind.exit_code for d in caught.value.diagnostics} == {2}


def test_streams_may_be_named_twice(tmp_path: Path) -> None:
    distinct(errors.BAD_OPTION, [("--output", "/dev/null"), ("--report", "/dev/null")])
    distinct(errors.BAD_OPTION, [("--output", "a"), ("--map", None), ("--map", "")], ["b"])


@pytest.mark.parametrize("argv", [["-o", "k", "=x"], ["-o", "k", "sm_80="], ["-o", "k", "x"]])
def test_images_without_arch_or_file_are_wrong_usage(argv: list[str]) -> None:
    with pytest.raises(FatcrateError) as caught:
        pack.main(argv)
    (fault,) = caught.value.diagnostics
    assert (fault.kind.exit_code, fault.subject) == (2, argv[-1])


def test_a_symbol_that_cannot_be_is_wrong_usage() -> None:
    with pytest.raises(FatcrateError) as caught:
        embed.main(["k.fatbin", "--symbol", "1x", "--header", "h"])
    (fault,) = caught.value.diagnostics
    assert (fault.kind.exit_code, fault.subject) == (2, "1x")

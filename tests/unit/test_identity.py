"""Identity files, arch checks, PTX ISA choice and the compatibility table."""

from __future__ import annotations

import json

import pytest
from fatcrate.toolchain import compat, identity
from fatcrate.toolchain.arch import Arch, parse_one
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.identity import (
    Fatcrate,
    HostLinker,
    Identity,
    Libdevice,
    Llvm,
    Ptxas,
    Python,
    Rustc,
    RustSrc,
)

ISAS = {"sm_75": "6.3", "sm_80": "7.0", "sm_90": "7.8", "sm_90a": "8.0", "sm_120": "8.7"}


def sample() -> Identity:
    return Identity(
        Rustc("1.96.0", "abc", "22.1.8", "x86_64-unknown-linux-gnu", "11"),
        Llvm("llvmlite 0.50.0", "22.1.0", list(ISAS), "9.0", ISAS),
        Ptxas("13.5.37", "22", ["sm_75", "sm_90", "sm_90a", "sm_107", "sm_120"], "9.5"),
        Libdevice("33"),
        RustSrc("1.96.0", "44"),
        HostLinker("12.2.0", "55"),
        Python("3.11.7", {"zstandard": "0.25.0"}),
        Fatcrate("0.1.0", "66"),
    )


def message(arch: str) -> str:
    with pytest.raises(FatcrateError) as caught:
        sample().check_arch(parse_one(arch))
    (fault,) = caught.value.diagnostics
    assert fault.kind.code == "FC0211"
    return fault.render()


def test_round_trip() -> None:
    assert identity.loads(sample().to_json()) == sample()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"version": 2}, "has version 2; this fatcrate reads version 1"),
        ({"extra": 1}, "unknown field toolchain.extra"),
        ({"libdevice": {"sha256": 5}}, "toolchain.libdevice.sha256 must be str, not int"),
        ({"libdevice": []}, "toolchain.libdevice must be an object, not list"),
        ({"libdevice": {}}, "field toolchain.libdevice.sha256 is missing"),
    ],
)
def test_bad_files(change: dict[str, object], text: str) -> None:
    value = json.loads(sample().to_json()) | change
    with pytest.raises(FatcrateError, match="FC0234") as caught:
        identity.loads(json.dumps(value), "t.json")
    assert caught.value.diagnostics[0].message == text


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000])
def test_hostile_files(text: str) -> None:
    with pytest.raises(FatcrateError, match="FC0234"):
        identity.loads(text)


def test_known_archs() -> None:
    sample().check_archs([Arch("sm", 90, "a"), Arch("compute", 80)])


def test_unknown_archs() -> None:
    assert message("sm_85") == (
        "error[FC0211]: sm_85: LLVM 22.1.0 and ptxas 13.5.37 do not know sm_85;"
        " nearest: sm_75, sm_90\n"
        "  help: choose from: sm_75, sm_90, sm_90a, sm_120"
    )
    assert "ptxas 13.5.37 does not know sm_80" in message("sm_80")
    assert "LLVM 22.1.0 does not know sm_107" in message("sm_107")
    assert "nearest: sm_120" in message("sm_130")
    assert "this fatcrate does not build gfx architectures" in message("gfx942")


def test_all_unknown_archs_together() -> None:
    with pytest.raises(FatcrateError) as caught:
        sample().check_archs([Arch("sm", 85), Arch("sm", 90), Arch("sm", 130)])
    assert [d.subject for d in caught.value.diagnostics] == ["sm_130", "sm_85"]


def test_ptx_isa_is_the_oldest_unless_a_driver_is_promised() -> None:
    isa = sample().ptx_isa_for
    assert isa(Arch("sm", 75)) == "6.3"
    assert isa(Arch("compute", 90)) == "7.8"
    assert isa(Arch("compute", 90), min_driver=535) == "8.2"
    assert isa(Arch("compute", 90), min_driver=540) == "8.2"
    assert isa(Arch("compute", 90), min_driver=10_000) == "9.0"  # what LLVM can write


def test_driver_too_old() -> None:
    with pytest.raises(FatcrateError, match="FC0236") as caught:
        sample().ptx_isa_for(Arch("compute", 120), min_driver=535)
    assert caught.value.diagnostics[0].remedy == (
        "raise the minimum driver to 570, drop compute_120, or use an older CUDA"
    )
    with pytest.raises(FatcrateError, match=r"assembled by ptxas 13\.5\.37.*branch 580"):
        sample().ptx_isa_for(Arch("sm", 75), min_driver=535)


def test_ptxas_too_old_for_the_isa() -> None:
    old = sample()._replace(ptxas=Ptxas("11.0.1", "22", ["sm_90"], "7.0"))
    with pytest.raises(FatcrateError, match="FC0232"):
        old.ptx_isa_for(Arch("sm", 90))


@pytest.mark.parametrize(
    ("producer", "linker", "code"),
    [
        ("22.1.0", "22.1.0", None),
        ("22.0.9", "22.1.0", None),
        ("22.1.8", "22.1.0", None),  # a tested pair
        ("22.1.7", "22.1.0", "FC0233"),
        ("22.1.10", "22.1.9", "FC0233"),  # 10 is more than 9
        ("21.1.8", "22.1.0", "FC0232"),
        ("23.1.0", "22.1.0", "FC0232"),
    ],
)
def test_llvm_pairs(producer: str, linker: str, code: str | None) -> None:
    fault = compat.check_llvm(producer, linker)
    assert (fault.kind.code if fault else None) == code


def test_allow_untested_does_not_allow_another_major() -> None:
    assert compat.check_llvm("22.1.7", "22.1.0", allow_untested=True) is None
    assert compat.check_llvm("23.1.0", "22.1.0", allow_untested=True) is not None


def test_rustc_minimum() -> None:
    assert compat.check_rustc("1.96.0") is None
    assert compat.check_rustc("1.100.0-nightly") is None
    fault = compat.check_rustc("1.9.0")
    assert fault is not None and "1.9.0 is too old" in fault.message


def test_pins_are_in_order() -> None:
    rows = compat.pins().ptx
    keys = [tuple(int(part) for part in row.isa.split(".")) for row in rows]
    assert keys == sorted(set(keys))
    assert [row.driver for row in rows] == sorted(row.driver for row in rows)

"""The cubin has DWARF sections; a driver too old for them is refused."""

from typing import Any

from elftools.elf.elffile import ELFFile


def check(shop: Any, case: Any) -> None:
    with open(shop.folder / "case.sm_120.cubin", "rb") as stream:
        names = {section.name for section in ELFFile(stream).iter_sections()}
    assert {".debug_info", ".debug_line", ".debug_abbrev"} <= names
    options = ["--debug", "full", "--min-driver", "430"]
    outcome = shop.codegen("case", "compute_75", "3", *options)
    assert outcome.code == 1
    assert "compute_75: needs PTX ISA 7.0, which drivers load from branch 450" in outcome.stderr

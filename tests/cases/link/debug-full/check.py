"""The cubin has DWARF sections."""

from typing import Any

from elftools.elf.elffile import ELFFile


def check(shop: Any, case: Any) -> None:
    with open(shop.folder / "case.sm_120.cubin", "rb") as stream:
        names = {section.name for section in ELFFile(stream).iter_sections()}
    assert {".debug_info", ".debug_line", ".debug_abbrev"} <= names

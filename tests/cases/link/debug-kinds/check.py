"""What nvdisasm shows of each kind, and the same bytes whenever the source was last written."""

import os
import re
import subprocess
from typing import Any

from elftools.elf.elffile import ELFFile

ARCHS = {"sm_75": "0", "sm_90a": "3", "sm_100f": "0", "sm_120": "3"}  # with a level each
LINES = {".debug_line", ".nv_debug_line_sass"}
ALL = {*LINES, ".debug_info", ".debug_abbrev", ".nv_debug_info_reg_sass"}
KINDS = {"none": set(), "line": LINES, "full": ALL}


def check(shop: Any, case: Any) -> None:
    text = (shop.folder / "kern.rs").read_text().splitlines()
    for arch, level in ARCHS.items():
        for kind, wanted in KINDS.items():
            assert shop.codegen("case", arch, level, "--debug", kind).code == 0
            cubin = shop.folder / f"case.{arch}.cubin"
            before = assembled(shop, arch, 0)
            assert kind == "none" or assembled(shop, arch, 2_000_000_000) == before
            with cubin.open("rb") as stream:
                found = {section.name for section in ELFFile(stream).iter_sections()}
            assert found & ALL == wanted, (arch, kind)
            lines = shown(shop.tools.nvdisasm, cubin) if kind != "none" else set()
            assert bool(lines) == (kind != "none")
            # The loop of `helper` is among them, and each is a line of code.
            assert not lines or any("s += x" in text[line - 1] for line in lines)
            assert all(text[line - 1].strip() for line in lines)


def assembled(shop: Any, arch: str, time: int) -> bytes:
    """The cubin, made while the source was last written at that time."""
    os.utime(shop.folder / "kern.rs", (time, time))
    outcome = shop.assemble("case", arch)
    assert outcome.code == 0, outcome.stderr
    cubin: bytes = (shop.folder / f"case.{arch}.cubin").read_bytes()
    return cubin


def shown(nvdisasm: str, cubin: Any) -> set[int]:
    """The lines of ``kern.rs`` that nvdisasm names between instructions."""
    command = [nvdisasm, "-g", "-c", cubin]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    named = re.findall(r'//## File "(.*)", line (\d+)', done.stdout)
    assert {os.path.basename(file) for file, _ in named} <= {"kern.rs", "range.rs", "cmp.rs"}
    return {int(line) for file, line in named if file.endswith("kern.rs")}

"""PTX text of an optimised module, made fit for ptxas and checked against the manifest."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fatcrate.lto import errors
from fatcrate.toolchain.diagnostics import Collector, Diagnostic

_ENTRY = re.compile(r"\.entry\s+([A-Za-z_$%][\w$]*)")
_FILE = re.compile(r'^(\s*\.file\s+\d+\s+"(?:[^"\\]|\\.)*")\s*$', re.MULTILINE)


def entries(ptx: str) -> list[str]:
    """Names of the kernels in PTX text, in order."""
    found: dict[str, None] = {}
    for match in _ENTRY.finditer(ptx):  # a search by line starts takes ten times as long
        line = ptx[ptx.rfind("\n", 0, match.start()) + 1 : match.start()]
        if line.strip() in ("", ".visible", ".weak"):
            found[match[1]] = None
    return list(found)


def pin_files(ptx: str) -> str:
    """Gives every ``.file`` a constant time stamp and size.

    Without them ptxas looks for the source file and puts its time stamp into the cubin.
    """
    return _FILE.sub(r"\1, 1, 1", ptx) if ".file" in ptx else ptx


def check_kernels(found: Iterable[str], wanted: Iterable[str], arch: str) -> None:
    """Raises FC0317 for each kernel of the manifest that the PTX lacks."""
    present, faults = set(found), Collector()
    for name in wanted:
        if name not in present:
            faults.add(
                Diagnostic(
                    errors.LOST_KERNEL,
                    name,
                    f"is in the manifest but not in the code for {arch}",
                    "report it with the linked module",
                )
            )
    faults.check()

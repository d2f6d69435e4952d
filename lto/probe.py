"""Asks the installed LLVM which archs and PTX ISA versions it knows.

`python -m fatcrate.lto.probe ARCH…` is run by discovery as a process of its own, because LLVM
answers with a warning on standard error, or by ending the process. It prints one JSON object
per line: first ``{"package", "version", "max_ptx_isa"}``, then for each arch asked ``{"arch",
"isa"}``, where ``isa`` is the PTX ISA version that LLVM writes by default (the oldest that has
the arch) or "" for an arch that it does not know.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib import metadata

from fatcrate.lto.engine import Target
from fatcrate.lto.llvm import LlvmliteEngine
from fatcrate.toolchain.versions import isa_feature

_TRIPLE = "nvptx64-nvidia-cuda"
_MODULE = f'target triple = "{_TRIPLE}"\ndefine ptx_kernel void @k() {{\n  ret void\n}}\n'

#: PTX ISA versions worth asking for: 6.3 is the first that has sm_75.
_ISAS = [
    "6.3",
    "6.4",
    "6.5",
    *(f"{major}.{minor}" for major in range(7, 16) for minor in range(10)),
]


def _version_written(engine: LlvmliteEngine, cpu: str, features: str = "") -> str:
    """The ``.version`` of the PTX for an empty kernel; "" when LLVM warned about the request."""
    before = os.fstat(2).st_size
    text = engine.emit(engine.parse_text(_MODULE), Target(_TRIPLE, cpu, features))
    if os.fstat(2).st_size != before:
        return ""
    words = text.split()
    return words[words.index(".version") + 1]


def main(argv: list[str]) -> int:
    """Prints what LLVM knows of each arch in ``argv``."""
    engine = LlvmliteEngine()
    with tempfile.TemporaryFile() as warnings:
        os.dup2(warnings.fileno(), 2)
        newest = ""
        for isa in _ISAS:
            newest = _version_written(engine, "sm_75", isa_feature(isa)) or newest
        head = {
            "package": f"llvmlite {metadata.version('llvmlite')}",
            "version": ".".join(str(part) for part in engine.version),
            "max_ptx_isa": newest,
        }
        print(json.dumps(head), flush=True)
        for arch in argv:
            row = {"arch": arch, "isa": _version_written(engine, arch)}
            print(json.dumps(row), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

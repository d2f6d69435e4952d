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

import llvmlite.binding as llvm  # type: ignore[import-untyped]

_TRIPLE = "nvptx64-nvidia-cuda"
_MODULE = f'target triple = "{_TRIPLE}"\ndefine ptx_kernel void @k() {{\n  ret void\n}}\n'

#: PTX ISA versions worth asking for: 6.3 is the first that has sm_75.
_ISAS = [(major, minor) for major in range(6, 16) for minor in range(10)]


def _version_written(target: llvm.Target, cpu: str, features: str, errors: int) -> str:
    """The ``.version`` of the PTX for an empty kernel; "" when LLVM warned about the request."""
    before = os.fstat(errors).st_size
    machine = target.create_target_machine(cpu=cpu, features=features)
    text = machine.emit_assembly(llvm.parse_assembly(_MODULE))
    if os.fstat(errors).st_size != before:
        return ""
    words = text.split()
    return str(words[words.index(".version") + 1])


def main(argv: list[str]) -> int:
    """Prints what LLVM knows of each arch in ``argv``."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(_TRIPLE)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with tempfile.TemporaryFile() as warnings:
        os.dup2(warnings.fileno(), 2)
        newest = ""
        for major, minor in _ISAS:
            if (major, minor) >= (6, 3):
                isa = _version_written(target, "sm_75", f"+ptx{major}{minor}", 2)
                newest = isa or newest
        head = {
            "package": f"llvmlite {metadata.version('llvmlite')}",
            "version": ".".join(str(part) for part in llvm.llvm_version_info),
            "max_ptx_isa": newest,
        }
        print(json.dumps(head), file=out, flush=True)
        for arch in argv:
            isa = _version_written(target, arch, "", 2)
            print(json.dumps({"arch": arch, "isa": isa}), file=out, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

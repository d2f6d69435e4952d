"""The scheduler's machine code on each host machine, run by itself (aarch64 in an emulator)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from fatcrate.lto.cpu import prepare

EXPECTED = """\
begin 0 (0, 0) of block 2
begin 1 (1, 0) of block 2
begin 2 (0, 1) of block 2
begin 3 (1, 1) of block 2
end 0 0.00 0
end 1 1.25 1
end 3 3.75 3
begin 0 (0, 0) of block 0
begin 1 (1, 0) of block 0
begin 2 (0, 1) of block 0
begin 3 (1, 1) of block 0
end 0 0.00 0
end 1 1.25 1
end 3 3.75 3
code 0, 2 traps, first by thread 2 at 9, 4 stacks
"""


def compiler(machine: str) -> list[str]:
    """A C compiler for a machine, and how to run what it makes."""
    cross = shutil.which(f"{machine}-linux-gnu-gcc")
    assert cross is not None, f"gcc for {machine} is missing: ./check installs it"
    return [cross, "-static", "-O2"]


@pytest.mark.parametrize("machine", prepare.MACHINES)
def test_fibers_take_turns(root: Path, tmp_path: Path, machine: str) -> None:
    llc = shutil.which("llc-22")
    assert llc is not None, "llc-22 is missing: ./check installs it"
    objects = []
    for name in ("runtime", f"switch_{machine}"):
        source, target = root / "lto" / "cpu" / f"{name}.ll", tmp_path / f"{name}.o"
        triple = f"-mtriple={machine}-linux-gnu"
        argv = [llc, triple, "-O2", "-filetype=obj", "-relocation-model=pic"]
        subprocess.run([*argv, str(source), "-o", str(target)], check=True)
        objects.append(str(target))
    main = root / "tests" / "cases" / "cpu" / "scheduler.c"
    program = tmp_path / "scheduler"
    subprocess.run([*compiler(machine), str(main), *objects, "-o", str(program)], check=True)
    emulator = shutil.which(f"qemu-{machine}")
    assert emulator is not None, "qemu-user is missing: ./check installs it"
    done = subprocess.run([emulator, str(program)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, EXPECTED)

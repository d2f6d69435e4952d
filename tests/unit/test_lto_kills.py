"""Workers of real steps killed while they run: an error with a reproducer that runs again."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fatcrate.lto import runtime
from fatcrate.rules import sysroot
from fatcrate.toolchain.discover import Tools
from support.device import SYSROOT_CRATES, Workshop, fatcrate

SUMS = 300  # additions in a kernel, so that each step takes a while


def source(kernels: int) -> str:
    """Kernels of long chains of additions."""
    parts = [
        f'target datalayout = "{runtime.DATA_LAYOUT}"',
        'target triple = "nvptx64-nvidia-cuda"',
    ]
    for number in range(kernels):
        lines = [f"define ptx_kernel void @k{number}(ptr %x) {{", "  %v0 = load float, ptr %x"]
        for at in range(1, SUMS):
            lines.append(f"  %p{at} = getelementptr float, ptr %x, i64 {at}")
            lines.append(f"  %o{at} = load volatile float, ptr %p{at}")
            lines.append(f"  %v{at} = fadd float %v{at - 1}, %o{at}")
        parts += [*lines, f"  store float %v{SUMS - 1}, ptr %x", "  ret void", "}"]
    return "\n".join(parts) + "\n"


def children(process: int) -> list[int]:
    """Direct children, by all threads of a process."""
    found = []
    for thread in Path(f"/proc/{process}/task").glob("*"):
        with contextlib.suppress(OSError):  # the thread has ended
            found += [int(word) for word in (thread / "children").read_text().split()]
    return found


def name(process: int) -> str:
    """A process's short name; "" when it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/comm").read_text().strip()
    return ""


def kill_worker(argv: list[str], number: signal.Signals, worker: str) -> str:
    """Runs a step, kills the first process below it whose name is ``worker``; its stderr."""
    command = [str(Path(sys.executable).with_name("fatcrate")), *argv]
    step = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    killed = False
    while step.poll() is None and not killed:
        for child in children(step.pid):
            if name(child) == worker:
                os.kill(child, number)
                killed = True
        time.sleep(0.001)
    _, said = step.communicate(timeout=60)
    assert killed and step.returncode == 1, said
    assert "Traceback" not in said
    return said


@pytest.fixture(scope="module")
def argvs(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The command line of each step, its inputs made."""
    shop = Workshop(tools, tmp_path_factory.mktemp("kills"))
    folder = shop.folder
    (folder / "big.ll").write_text(source(12))
    crates = [("big", folder / "big.ll")]
    assert shop.link("t", crates=crates).code == 0
    assert shop.codegen("t", "sm_80").code == 0
    libraries = sysroot.library_folder(shop.sysroot)
    names = [str(folder / name) for name in ("t.bc", "t.manifest.json", "t.link.json")]
    bitcode = [("big", str(folder / "t.bc"))]
    others = [(c, f"{libraries}/lib{c}.rlib") for c in SYSROOT_CRATES]
    made = shop.recipe_tools
    out = [str(folder / name) for name in ("u.bc", "u.json", "u.link.json")]
    ptx = str(folder / "t.sm_80.ptx")
    recipe = shop.recipe
    return {
        "text": recipe.link_argv(made, "t", [("big", str(crates[0][1]))], others, *out, options=[]),
        "link": recipe.link_argv(made, "t", bitcode, others, *out, options=[]),
        "codegen": recipe.codegen_argv(
            made, "sm_80", names[0], names[1], str(folder / "u.ptx"), "3", options=[]
        ),
        "assemble": recipe.assemble_argv(
            made, "sm_80", ptx, str(folder / "u.cubin"), str(folder / "u.report.json"), []
        ),
    }


KILLED = {
    "text": ("u.bc", "big.ll: LLVM was ended by {}"),
    "link": ("u.bc", "t: the process that runs LLVM was ended by {}"),
    "codegen": ("u.ptx", "t: the process that generates code for sm_80 was ended by {}"),
    "assemble": ("u.cubin", "t.sm_80.ptx: ptxas for sm_80 was ended by {}"),
}


@pytest.mark.parametrize(
    ("step", "number"),
    [
        ("text", signal.SIGKILL),
        ("link", signal.SIGKILL),
        ("codegen", signal.SIGKILL),
        ("codegen", signal.SIGSEGV),
        ("codegen", signal.SIGABRT),
        ("assemble", signal.SIGKILL),
        ("assemble", signal.SIGSEGV),
    ],
)
def test_a_killed_worker(argvs: dict[str, list[str]], step: str, number: signal.Signals) -> None:
    argv, (output, what) = argvs[step], KILLED[step]
    said = kill_worker(argv, number, "ptxas" if step == "assemble" else "fatcrate")
    assert what.format(number.name) in said
    place = Path(argv[argv.index("--output") + 1])
    assert place.name == output and not place.exists()
    made = place.with_name(place.name + ".repro")
    assert f"`fatcrate repro {made}` runs it again" in said
    assert ("memory may have run out" in said) == (number == signal.SIGKILL and step != "text")
    again = fatcrate("repro", made)
    assert again.code == 0 and "the step succeeded" in again.stderr, again.stderr
    made.unlink()
    leftovers = [p.name for p in place.parent.iterdir() if ".tmp" in p.name]
    assert leftovers == []


def test_ptxas_that_takes_too_long(argvs: dict[str, list[str]]) -> None:
    outcome = fatcrate(*argvs["assemble"], "--timeout", "0.01")
    assert outcome.code == 1
    assert "error[FC0330]: t.sm_80.ptx: ptxas for sm_80 did not finish in time" in outcome.stderr
    assert "u.cubin.repro` runs it again" in outcome.stderr
    assert "help: raise --timeout" in outcome.stderr

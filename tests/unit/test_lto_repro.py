"""LLVM's crashes become errors with a reproducer, and the reproducer runs again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
from fatcrate.lto import isolate, merge, repro, runtime
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.discover import Tools
from support.device import Workshop, fatcrate

HEAD = f'target datalayout = "{runtime.DATA_LAYOUT}"\ntarget triple = "nvptx64-nvidia-cuda"\n'
FAILING = (
    HEAD
    + """
define ptx_kernel void @good(ptr %x) {
  ret void
}
define ptx_kernel void @bad(ptr %x) {
  call void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32 240)
  ret void
}
declare void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32)
"""
)
WORKING = HEAD + "define ptx_kernel void @good(ptr %x) {\n  ret void\n}\n"


@pytest.fixture
def shop(tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.chdir(tmp_path)
    return Workshop(tools, tmp_path)


def link(shop: Workshop, text: str) -> None:
    (shop.folder / "kern.ll").write_text(text)
    outcome = shop.link("t", crates=[("kern", shop.folder / "kern.ll")])
    assert outcome.code == 0, outcome.stderr


def test_a_failing_codegen_leaves_a_reproducer_that_fails_alike(shop: Workshop) -> None:
    link(shop, FAILING)
    outcome = shop.codegen("t", "sm_80")
    assert outcome.code == 1
    first = outcome.stderr.splitlines()[0]
    assert first == (
        "error[FC0320]: bad: LLVM cannot generate code for sm_80: it does not have"
        " llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"
    )
    path = shop.folder / "t.sm_80.ptx.repro"
    assert f"`fatcrate repro {path}` runs it again" in outcome.stderr
    assert not (shop.folder / "t.sm_80.ptx").exists()
    with tarfile.open(path) as tar:
        assert sorted(tar.getnames()) == [
            "linked.bc",
            "manifest.json",
            "repro.json",
            "toolchain.json",
        ]
        head = tar.extractfile("repro.json")
        assert head is not None and str(shop.folder).encode() not in head.read()
    again = fatcrate("repro", path)
    assert again.code == 1
    assert first in again.stderr
    before = path.read_bytes()
    assert shop.codegen("t", "sm_80").code == 1
    assert path.read_bytes() == before


def test_a_reproducer_can_be_kept_and_succeed(shop: Workshop) -> None:
    link(shop, WORKING)
    files = {str(shop.folder / "t.bc"): "linked.bc", str(shop.identity): "toolchain.json"}
    files[str(shop.folder / "t.manifest.json")] = "manifest.json"
    argv = ["--arch", "sm_80", "--toolchain", str(shop.identity), "--manifest"]
    argv += [str(shop.folder / "t.manifest.json"), "--output", "@o.ptx", str(shop.folder / "t.bc")]
    repro.write("x.repro", repro.capture("codegen", argv, files, {"llvm": "22.1.0"}))
    outcome = fatcrate("repro", "--keep", "kept", "x.repro")
    assert outcome.code == 0, outcome.stderr
    assert ".entry good" in (shop.folder / "kept" / "o.ptx").read_text()


def test_a_crashing_link_leaves_a_reproducer(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop.folder / "kern.ll").write_text(WORKING)
    with monkeypatch.context() as patched:
        patched.setattr(merge, "run", lambda *a, **k: os.abort())
        outcome = shop.link("t", crates=[("kern", shop.folder / "kern.ll")])
    assert outcome.code == 1
    assert "the process that runs LLVM was ended by SIGABRT" in outcome.stderr
    assert sorted(p.name for p in shop.folder.iterdir()) == [
        "kern.ll",
        "t.bc.repro",
        "toolchain.json",
    ]
    again = fatcrate("repro", "--keep", "kept", shop.folder / "t.bc.repro")
    assert again.code == 0, again.stderr
    assert (shop.folder / "kept" / "output.bc").read_bytes()[:4] == b"BC\xc0\xde"


def test_a_slow_engine_is_ended(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "run", lambda *a, **k: time.sleep(60))
    (shop.folder / "kern.ll").write_text(WORKING)
    begun = time.monotonic()
    outcome = shop.link("t", "--timeout", "0.5", crates=[("kern", shop.folder / "kern.ll")])
    assert time.monotonic() - begun < 20
    assert outcome.code == 1
    assert "error[FC0323]: t: the process that runs LLVM did not finish in time" in outcome.stderr
    assert "help: raise --timeout" in outcome.stderr


@pytest.mark.parametrize("content", [b"", b"rubbish" * 200, b"\0" * 10240])
def test_what_is_not_a_reproducer(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.repro"
    path.write_bytes(content)
    with pytest.raises(FatcrateError, match="is not a reproducer"):
        repro.load(str(path))


def test_a_member_outside_of_the_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.repro"
    with tarfile.open(path, "w") as tar:
        tar.addfile(tarfile.TarInfo("../evil"))
    with pytest.raises(FatcrateError, match="does not belong there"):
        repro.load(str(path))


# --- the child process -----------------------------------------------------------------


def test_results_and_errors_come_back() -> None:
    assert isolate.run(lambda: {"a": [1, 2]}) == {"a": [1, 2]}
    with pytest.raises(FatcrateError, match="is not a reproducer"):
        isolate.run(lambda: repro.load(os.devnull))


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_signal_is_told_by_name(number: signal.Signals) -> None:
    with pytest.raises(isolate.Crash) as caught:
        isolate.run(lambda: os.kill(os.getpid(), number))
    assert caught.value.reason() == f"was ended by {number.name}"


def test_a_worker_ends_with_the_step() -> None:
    """Even when the step is killed and can end nobody."""
    code = (
        "import os, sys, time\n"
        "from fatcrate.lto import isolate\n"
        "isolate.run(lambda: (print(os.getpid(), flush=True), time.sleep(60)))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as step:
        assert step.stdout is not None
        worker = int(step.stdout.readline())
        step.kill()
        step.stdout.read()  # the worker holds it, too: this ends when both are gone
    running = Path(f"/proc/{worker}/cmdline")
    assert not running.exists() or running.read_bytes() == b""  # none, or nobody asked for its end


def test_an_exception_and_an_exit_are_crashes() -> None:
    with pytest.raises(isolate.Crash) as caught:
        isolate.run(lambda: [][1])
    assert "IndexError" in caught.value.stderr
    with pytest.raises(isolate.Crash) as caught:
        isolate.run(lambda: os._exit(7))
    assert caught.value.reason() == "exited with code 7"


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf", "soon"])
@pytest.mark.parametrize("step", ["link", "codegen", "assemble"])
def test_a_time_limit_that_is_none(step: str, limit: str) -> None:
    outcome = fatcrate(step, f"--timeout={limit}")
    assert outcome.code == 2
    assert f"argument --timeout: invalid seconds value: '{limit}'" in outcome.stderr


def test_llvm_that_ends_the_process_content() -> None:
    with pytest.raises(isolate.Crash) as caught:
        isolate.run(lambda: os._exit(0))
    assert caught.value.reason() == "exited with code 0"


def test_options_with_which_llvm_does_something_else(shop: Workshop) -> None:
    link(shop, WORKING)
    outcome = shop.codegen("t", "sm_80", "3", "--llvm-option=-help", "--llvm-option=-unrol-count=2")
    assert (outcome.code, outcome.stderr) == (
        2,
        "error[FC0340]: --llvm-option: '-help' makes LLVM print something and stop\n"
        "  help: leave it out\n"
        "error[FC0340]: --llvm-option: '-unrol-count=2' is no option of LLVM\n"
        "  help: did you mean -unroll-count, -unroll-max-count or -unroll-peel-count?\n",
    )


def test_outputs_and_jobs_are_checked(shop: Workshop) -> None:
    link(shop, WORKING)
    twice = shop.codegen("t", "sm_80", "3", f"--also=sm_90={shop.folder}/t.sm_80.ptx")
    assert twice.code == 2
    assert "t.sm_80.ptx is the output of two architectures" in twice.stderr
    assert shop.codegen("t", "sm_80", "3", "--jobs=0").code == 2

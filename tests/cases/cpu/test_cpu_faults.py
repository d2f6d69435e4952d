"""Faults of kernels on the CPU: each is found and said in full."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fatcrate import cpu

from tests.cases.cpu.conftest import Load, Shelf


def fault(run: Callable[[], Any]) -> str:
    """The whole text of the error that a launch ends with."""
    with pytest.raises(cpu.FatcrateError) as caught:
        run()
    return str(caught.value)


@pytest.mark.parametrize(
    ("index", "where"),
    [
        (10, "element 10 of 10 (float32), byte offset 40, behind its end"),
        (700, "element 700 of 10 (float32), byte offset 2800, behind its end"),
        (-1, "element -1 of 10 (float32), byte offset -4, before its start"),
        (-1024, "element -1024 of 10 (float32), byte offset -4096, before its start"),
    ],
)
def test_write_beside_a_buffer(load: Load, index: int, where: str) -> None:
    x = np.zeros(10, np.float32)
    text = fault(lambda: load("faults").launch("write_at", grid=1, block=1, args=[x, index]))
    assert text == (
        f"error[FC0606]: write_at: wrote out of bounds of the buffer for parameter 1 (pointer):"
        f" {where}\n"
        "  note: 4 bytes around the buffer have changed\n"
        "  help: check the indices against the length"
    )
    assert not x.any()


def test_write_that_changes_nothing_is_found(load: Load) -> None:
    x = np.zeros(3)
    text = fault(lambda: load("faults").launch("add_at", grid=1, block=1, args=[x, 3]))
    assert "element 3 of 3 (float64), byte offset 24, behind its end" in text


def test_value_read_beside_a_buffer_is_nan(load: Load) -> None:
    x = np.zeros(3, np.float32)
    load("faults").launch("read_at", grid=1, block=1, args=[x, 3])
    assert np.isnan(x[0])
    load("faults").launch("read_at", grid=1, block=1, args=[x, -2])
    assert np.isnan(x[0])


@pytest.mark.parametrize("index", [1 << 20, -(1 << 20), 1 << 32, -(1 << 32), 1 << 60])
def test_wild_write_ends_the_worker_and_nothing_else(load: Load, index: int) -> None:
    module, x = load("faults"), np.zeros(10, np.float32)
    text = fault(lambda: module.launch("write_at", grid=(2, 2), block=3, args=[x, index]))
    assert text == (
        "error[FC0607]: write_at: the process that ran it was ended by SIGSEGV in block"
        " (0, 0, 0), thread (0, 0, 0)\n"
        "  help: look for a pointer far out of bounds, or for deep recursion (a thread has"
        " 256 KiB of stack)"
    )
    module.launch("write_at", grid=1, block=1, args=[x, 9])
    assert x[9] == 1


def test_null_pointer(load: Load) -> None:
    text = fault(lambda: load("faults").launch("write_at", grid=1, block=1, args=[None, 0]))
    assert "SIGSEGV" in text


def test_panic_ends_one_thread_and_is_reported(load: Load) -> None:
    module, x = load("faults"), np.zeros(5, np.float32)
    text = fault(lambda: module.launch("panics", grid=2, block=(2, 2), args=[x, 5]))
    assert text == (
        "error[FC0604]: panics: 3 threads trapped: a panic or gpu::trap()\n"
        "  note: block (1, 0, 0), thread (1, 0, 0), in `panics`\n"
        "  note: block (1, 0, 0), thread (0, 1, 0), in `panics`\n"
        "  note: block (1, 0, 0), thread (1, 1, 0), in `panics`\n"
        "  help: mend the kernel, or allow traps (--allow-traps, allow_traps=True)"
    )
    assert not x.any()
    result = module.launch("panics", grid=2, block=(2, 2), args=[x, 5], allow_traps=True)
    assert (result.trap_count, x.tolist()) == (3, [1.0] * 5)
    assert result.traps[0] == cpu.Trap((1, 0, 0), (1, 0, 0), "`panics`")


def test_more_traps_than_are_listed(load: Load) -> None:
    x = np.zeros(1, np.float32)
    text = fault(lambda: load("faults").launch("panics", grid=4, block=100, args=[x, 1]))
    assert "399 threads trapped" in text
    assert text.count("note:") == 9
    assert "note: and 391 more" in text


def test_trapped_thread_does_not_hold_up_a_barrier(load: Load) -> None:
    module = load("faults")
    result = module.launch("traps", grid=3, block=8, args=[5], allow_traps=True)
    assert [(t.block[0], t.thread[0]) for t in result.traps] == [(0, 5), (1, 5), (2, 5)]


@pytest.mark.parametrize("index", [30, 93, -1, -64])
def test_write_beside_static_shared_memory(load: Load, index: int) -> None:
    module = load("faults")
    module.launch("write_shared", grid=2, block=32, args=[29])
    text = fault(lambda: module.launch("write_shared", grid=2, block=32, args=[index]))
    assert text == (
        f"error[FC0606]: write_shared: block (0, 0, 0) wrote byte {index} of the shared memory"
        " made in `faults::write_shared`, which has 30\n"
        "  help: check the indices"
    )


@pytest.mark.parametrize("index", [16, -1])
def test_write_beside_dynamic_shared_memory(load: Load, index: int) -> None:
    module = load("faults")
    text = fault(
        lambda: module.launch("write_dynamic", grid=1, block=1, args=[index], shared_bytes=16)
    )
    assert f"wrote byte {index} of the dynamic shared memory, which has 16" in text
    none = fault(lambda: module.launch("write_dynamic", grid=1, block=1, args=[0]))
    assert "wrote byte 0 of the dynamic shared memory, which has 0" in none
    assert "--shared-bytes" in none


def test_threads_that_return_before_a_barrier(load: Load) -> None:
    module = load("faults")
    module.launch("early_return", grid=1, block=(8, 4), args=[32])
    text = fault(lambda: module.launch("early_return", grid=2, block=(8, 4), args=[20]))
    assert text == (
        "error[FC0605]: early_return: the threads of block (0, 0, 0) do not reach a barrier"
        " together: some have returned\n"
        "  note: 20 of its threads wait at the barrier in `early_return`, such as thread"
        " (0, 0, 0)\n"
        "  note: 12 of its threads have returned, such as thread (4, 2, 0)\n"
        "  help: let every thread of the block pass the same barriers"
    )
    module.launch("early_return", grid=2, block=(8, 4), args=[20], divergence="allow")


def test_threads_that_wait_at_two_barriers(load: Load) -> None:
    module, x = load("faults"), np.zeros(5, np.uint32)
    text = fault(lambda: module.launch("two_barriers", grid=1, block=5, args=[x]))
    assert "do not reach a barrier together: they wait at several" in text
    assert "3 of its threads wait at the barrier in `two_barriers`" in text
    assert "2 of its threads wait at the barrier in `two_barriers`" in text
    module.launch("two_barriers", grid=1, block=5, args=[x], divergence="allow")
    assert x.tolist() == [3, 35, 3, 35, 3]


def test_loop_without_end(load: Load) -> None:
    module, x = load("faults"), np.zeros(1, np.uint32)
    begin = time.monotonic()
    text = fault(lambda: module.launch("forever", grid=2, block=4, args=[x], timeout=0.5))
    assert time.monotonic() - begin < 5
    assert text == (
        "error[FC0608]: forever: did not finish within 0.5 s; block (0, 0, 0), thread (0, 0, 0)"
        " was running\n"
        "  note: 0 threads had finished\n"
        "  help: look for a loop without end, or give it more time (--timeout, timeout=)"
    )
    module.launch("fine", grid=1, block=1)


def test_stack_is_a_limit_that_can_be_raised(load: Load) -> None:
    module, x = load("faults"), np.zeros(1, np.uint32)
    assert "deep recursion" in fault(lambda: module.launch("deep", grid=1, block=2, args=[x]))
    assert "SIGSEGV" in fault(lambda: module.launch("large_frame", grid=1, block=1, args=[x]))
    module.launch("large_frame", grid=1, block=2, args=[x], stack_bytes=1 << 20)
    assert x[0] == 7


def test_what_only_a_gpu_has_is_refused_by_name(load: Load) -> None:
    module, x = load("refused"), np.zeros(1, np.uint32)

    def refusal(kernel: str) -> str:
        return fault(lambda: module.launch(kernel, grid=1, block=1, args=[x]))

    assert "FC0609" in refusal("assembly")
    assert "reaches inline assembly (`mov.u32 {0}, %smid`)" in refusal("assembly")
    assert "reaches the intrinsic `llvm.nvvm.shfl.sync.bfly.i32` in `intrinsic`" in refusal(
        "intrinsic"
    )
    assert "reaches the function `vprintf`, which has no body" in refusal("prints")
    module.launch("guarded", grid=1, block=1, args=[x])
    assert x[0] == 42


def test_nvidias_own_names_run(load: Load) -> None:
    x = np.zeros(128, np.uint32)
    result = load("refused").launch("native_names", grid=2, block=64, args=[x], allow_traps=True)
    assert x.tolist() == [6400] * 64 + [6401] * 64
    assert [t.thread for t in result.traps] == [(63, 0, 0)] * 2


def test_site_has_file_and_line_with_debug_information(shelf: Shelf, root: Path) -> None:
    source = root / "tests/cases/cpu/faults.rs"
    lines = source.read_text().splitlines()
    line = 1 + lines.index("    x[i] = 1.0;")
    barrier = 1 + lines.index("    gpu::barrier();", lines.index("        return;"))
    linked, manifest = shelf.link("lines", source, debug=1)
    for stage in ("unoptimised", "linked"):
        with cpu.Module(linked, manifest, stage=stage) as module:  # type: ignore[arg-type]
            x = np.zeros(1, np.float32)
            result = module.launch("panics", grid=1, block=2, args=[x, 1], allow_traps=True)
            assert result.traps[0].where.endswith(f"faults.rs:{line})")
            text = fault(lambda: module.launch("early_return", grid=1, block=2, args=[1]))
            assert "wait at the barrier in `early_return` (" in text
            assert f"faults.rs:{barrier})" in text


def test_workers_end_with_their_module(shelf: Shelf) -> None:
    linked, manifest = shelf.link("faults")
    before = set(os.listdir("/proc/self/fd"))
    module = cpu.Module(linked, manifest)
    module.launch("fine", grid=1, block=1)
    assert module._worker is not None
    process = module._worker._process.pid
    module.close()
    assert not os.path.exists(f"/proc/{process}")
    assert set(os.listdir("/proc/self/fd")) == before
    module.launch("fine", grid=1, block=1)
    module.close()

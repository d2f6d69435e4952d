"""`alloc` on the device: the default allocator, one of the user's, and no more memory."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fatcrate import cpu

HERE = Path(__file__).parent
STAGES = ("linked", "unoptimised")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("alloc") / "project"
    shutil.copytree(HERE, place, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
    done = subprocess.run(
        [sys.executable, "-m", "fatcrate", "build", "--quiet"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return place / "fatcrate-out"


def module(built: Path, target: str, stage: str) -> cpu.Module:
    return cpu.Module(built / target / "linked.bc", built / f"{target}.manifest.json", stage=stage)  # type: ignore[arg-type]


def expected(i: int) -> int:
    lists = {n * 7 % 11: [k + n + i for k in range(n % 5)] for n in range(20)}
    return sum(key * sum(values) for key, values in lists.items())


@pytest.mark.parametrize("stage", STAGES)
def test_collections_on_the_default_heap(built: Path, stage: str) -> None:
    out = np.zeros(64, dtype=np.uint32)
    with module(built, "heap", stage) as heap:
        heap.launch("collect", grid=2, block=32, args=[out])
    assert out.tolist() == [expected(i) for i in range(64)]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(("target", "kernel"), [("heap", "exhaust"), ("own", "overfill")])
def test_no_more_memory_traps(built: Path, target: str, kernel: str, stage: str) -> None:
    out = np.zeros(1, dtype=np.uint32)
    with module(built, target, stage) as loaded:
        result = loaded.launch(kernel, grid=1, block=1, args=[out], allow_traps=True)
    assert len(result.traps) == 1
    assert out[0] < 1000  # the loop did end


@pytest.mark.parametrize("stage", STAGES)
def test_alignments_beyond_the_heaps(built: Path, stage: str) -> None:
    out = np.zeros(3, dtype=np.uint32)
    with module(built, "heap", stage) as heap:
        heap.launch("overaligned", grid=1, block=1, args=[out])
    assert out.tolist() == [0, 16 * (5 + 6 + 7 + 8 + 9) + 7, 0]


@pytest.mark.parametrize("stage", STAGES)
def test_a_refusal_can_be_handled(built: Path, stage: str) -> None:
    out = np.zeros(1, dtype=np.uint32)
    with module(built, "heap", stage) as heap:
        heap.launch("ask", grid=1, block=1, args=[out])
    assert out[0] == 3  # refused, and the vector is still empty: a dangling pointer


@pytest.mark.parametrize("stage", STAGES)
def test_an_allocator_of_the_users(built: Path, stage: str) -> None:
    out = np.zeros(3, dtype=np.uint32)
    with module(built, "own", stage) as own:
        own.launch("bump", grid=1, block=1, args=[out])
    used, values, text = out.tolist()
    assert 32 + 3 <= used <= 200
    assert values == 1000 + 28
    assert text == int.from_bytes(b"cba", "big")


def test_the_images_use_the_right_heap(built: Path) -> None:
    """The default heap is the driver's `malloc`; an allocator of the user's replaces it."""
    heap = (built / "heap" / "sm_90.ptx").read_text()
    own = (built / "own" / "sm_90.ptx").read_text()
    assert "malloc" in heap and "malloc" not in own
    for arch in (75, 80, 86, 89, 90, 120):
        assert (built / "own" / f"sm_{arch}.cubin").stat().st_size > 1000


@pytest.mark.parametrize("stage", STAGES)
def test_the_heap_has_a_limit(built: Path, stage: str) -> None:
    out = np.zeros(64, dtype=np.uint32)
    with module(built, "heap", stage) as heap:
        for _ in range(3):  # what is freed can be had again
            heap.launch("collect", grid=2, block=32, args=[out], heap_bytes=1 << 16)
        with pytest.raises(cpu.FatcrateError) as caught:
            heap.launch("collect", grid=2, block=32, args=[out], heap_bytes=100)
        text = str(caught.value)
        assert "error[FC0616]: collect: 64 threads trapped; 64 of them had asked the" in text
        assert "of 100 bytes are in use" in text
        heap.launch("collect", grid=2, block=32, args=[out])
        heap.launch("ask", grid=1, block=1, args=[out[:1].copy()])
        with pytest.raises(cpu.FatcrateError, match="FC0616") as caught:
            heap.launch("exhaust", grid=1, block=1, args=[out[:1].copy()])
        assert f"such as {1 << 46} bytes" in str(caught.value)

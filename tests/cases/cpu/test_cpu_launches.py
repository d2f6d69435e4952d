"""Launches on the CPU: positions, parameters, shared memory, barriers, schedules, statics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fatcrate import cpu

from tests.cases.cpu.conftest import Load, Shelf

SHAPES = [
    (1, 1),
    (3, 5),
    ((2, 3), (4, 2)),
    ((2, 1, 3), (3, 2, 4)),
    (1, 1024),
    ((1, 1, 2), (1, 1, 64)),
]
SCHEDULES = ["in-order", "shuffled:1", "shuffled:2"]


def dims(size: int | tuple[int, ...]) -> tuple[int, int, int]:
    given = (size,) if isinstance(size, int) else size
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("grid", "block"), SHAPES)
def test_every_thread_knows_where_it_is(
    load: Load, grid: cpu.Size, block: cpu.Size, schedule: str
) -> None:
    g, b = dims(grid), dims(block)  # type: ignore[arg-type]
    threads, blocks = b[0] * b[1] * b[2], g[0] * g[1] * g[2]
    out = np.zeros((blocks, threads, 16), np.uint32)
    result = load("launches").launch(
        "positions", grid=grid, block=block, args=[out], schedule=schedule
    )
    assert (result.blocks, result.threads) == (blocks, blocks * threads)
    for rank in range(blocks):
        for thread in range(threads):
            expected = [
                *(thread % b[0], thread // b[0] % b[1], thread // b[0] // b[1]),
                *(rank % g[0], rank // g[0] % g[1], rank // g[0] // g[1]),
                *b,
                *g,
                *(thread, rank, thread % 32, 32),
            ]
            assert out[rank, thread].tolist() == expected


def test_global_indices_cover_the_grid(load: Load) -> None:
    axes = np.zeros((3, 64), np.uint32)
    load("launches").launch("count_axes", grid=(2, 3, 1), block=(4, 2, 5), args=[axes])
    for axis, size in enumerate([8, 6, 5]):
        expected = [240 // size] * size + [0] * (64 - size)
        assert axes[axis].tolist() == expected


def test_parameters_of_every_class(load: Load) -> None:
    out = np.zeros(8, np.int64)
    args = [-7, 65535, -(2**31), 2**63 + 5, True, 1.5, -2e9, None, out]
    load("launches").launch("parameters", grid=1, block=1, args=args)
    assert out.tolist() == [-7, 65535, -(2**31), 5 - 2**63, 1, 1, -2000000000, 1]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("grid", "block"), [(1, 1), (4, 64), (3, 1000)])
def test_barrier_orders_shared_memory(load: Load, grid: int, block: int, schedule: str) -> None:
    x = np.arange(grid * block, dtype=np.uint32)
    expected = x.reshape(grid, block)[:, ::-1].reshape(-1).copy()
    load("launches").launch(
        "reverse", grid=grid, block=block, args=[x], shared_bytes=4 * block, schedule=schedule
    )
    np.testing.assert_array_equal(x, expected)


def test_shared_memory_is_fresh_in_each_block(load: Load) -> None:
    out = np.zeros(3, np.uint32)
    for size in (0, 12, 1000):
        load("launches").launch("fresh_shared", grid=3, block=1, args=[out], shared_bytes=size)
        assert out.tolist() == [size, 0xFFFFFFFF, 0xFFFFFFFF]


def test_each_shared_macro_is_one_piece_of_memory(load: Load) -> None:
    out = np.zeros(3, np.uint64)
    load("launches").launch("addresses", grid=1, block=1, args=[out])
    assert out[0] == out[1]
    assert abs(int(out[2]) - int(out[0])) >= 128


def test_statics_live_as_long_as_the_module(shelf: Shelf) -> None:
    for _ in range(2):
        module = shelf.module("launches")
        seen = np.zeros(6, np.uint32)
        module.launch("count", grid=2, block=3, args=[seen])
        assert sorted(seen.tolist()) == [5, 6, 7, 8, 9, 10]
        module.launch("count", grid=2, block=3, args=[seen])
        assert sorted(seen.tolist()) == [11, 12, 13, 14, 15, 16]
        module.close()


def test_schedules_are_orders_of_all_threads(load: Load) -> None:
    def turns(schedule: str) -> list[int]:
        order, count = np.zeros(40, np.uint32), np.zeros(1, np.uint32)
        load("launches").launch("turns", grid=4, block=10, args=[order, count], schedule=schedule)
        return [int(t) for t in order]

    assert turns("in-order") == list(range(40))
    shuffled = [turns(f"shuffled:{seed}") for seed in (0, 1, 2)]
    assert [sorted(order) for order in shuffled] == [list(range(40))] * 3
    assert len({tuple(order) for order in (*shuffled, range(40))}) == 4
    assert turns("shuffled:1") == shuffled[1]
    blocks = [t // 10 for t in shuffled[0][::10]]
    assert blocks != [0, 1, 2, 3] or [t // 10 for t in shuffled[1][::10]] != [0, 1, 2, 3]


def test_arch_queries_answer_for_no_gpu(load: Load) -> None:
    out = np.full(2, 9, np.uint32)
    load("launches").launch("queries", grid=1, block=1, args=[out])
    assert out.tolist() == [0, 0]


def test_fences_and_clock(load: Load) -> None:
    out = np.full(1, 2**64 - 1, np.uint64)
    load("launches").launch("clock", grid=1, block=1, args=[out])
    assert out[0] < 10**9


def test_kernel_may_have_the_name_of_a_library_function(load: Load) -> None:
    x = np.ones(1)
    load("launches").launch("exp", grid=1, block=1, args=[x])
    assert x[0] == np.exp(1.0)


def test_wide_arithmetic(load: Load) -> None:
    number = 3**70
    x = np.array([number % 2**64, number >> 64], np.uint64)
    y, z = np.array([1e17]), np.zeros(1, np.float32)
    load("launches").launch("wide", grid=1, block=1, args=[x, y, z])
    expected = number // 7 + number % 7
    assert int(x[0]) | int(x[1]) << 64 == expected
    assert y[0] == np.fmod(1e17, 0.3)
    assert z[0] == np.fmod(np.float32(expected), np.float32(1000))


def test_same_array_twice_is_one_buffer(load: Load) -> None:
    order = np.zeros(6, np.uint32)
    load("launches").launch("turns", grid=1, block=6, args=[order, order])
    expected = [0] * 6
    for rank in range(6):
        turn, expected[0] = expected[0], expected[0] + 1
        expected[turn] = rank
    assert order.tolist() == expected


def test_read_only_arrays_are_not_written_back(load: Load) -> None:
    x = np.arange(4, dtype=np.uint32)
    x.flags.writeable = False
    load("launches").launch("reverse", grid=1, block=4, args=[x], shared_bytes=16)
    assert x.tolist() == [0, 1, 2, 3]


def test_empty_and_many_dimensional_arrays(load: Load) -> None:
    load("launches").launch("queries", grid=1, block=1, args=[np.zeros((2, 1), np.uint32)])
    with pytest.raises(cpu.FatcrateError, match="element 0 of 0"):
        load("launches").launch("queries", grid=1, block=1, args=[np.zeros(0, np.uint32)])


def test_modules_load_from_bytes_and_refuse_what_is_no_module(shelf: Shelf) -> None:
    linked, manifest = shelf.link("launches")
    with cpu.Module(linked.read_bytes(), manifest) as module:
        module.launch("queries", grid=1, block=1, args=[np.zeros(2, np.uint32)])
        assert "positions" in module.kernels
    with (
        cpu.Module(linked.read_bytes()[:1000], manifest) as module,
        pytest.raises(cpu.FatcrateError, match=r"FC0610.*launches: LLVM refuses"),
    ):
        module.launch("queries", grid=1, block=1, args=[np.zeros(2, np.uint32)])


def test_module_and_manifest_must_belong_together(shelf: Shelf, tmp_path: Path) -> None:
    linked, manifest = shelf.link("launches")
    text = manifest.read_text().replace('"cls": "pointer"', '"cls": "float"')
    (tmp_path / "m.json").write_text(text)
    other, _ = shelf.link("faults")
    with (
        cpu.Module(linked, tmp_path / "m.json") as module,
        pytest.raises(cpu.FatcrateError, match=r"FC0612.*otherwise than the manifest"),
    ):
        module.launch("queries", grid=1, block=1, args=[1.0])
    with (
        cpu.Module(other, manifest) as module,
        pytest.raises(cpu.FatcrateError, match=r"FC0612.*does not define it"),
    ):
        module.launch("queries", grid=1, block=1, args=[np.zeros(2, np.uint32)])


def test_elements_of_another_size_are_refused(load: Load) -> None:
    """The crate has no debug information: the code tells."""
    module, args = load("faults"), [np.zeros(3), 1]
    with pytest.raises(cpu.FatcrateError, match="the kernel's code takes it for f32, the array"):
        module.launch("write_at", grid=1, block=1, args=args)
    types = ["*mut f32", "i64"]
    with pytest.raises(cpu.FatcrateError, match="wants an array of float32, not of int32"):
        module.launch("write_at", grid=1, block=1, args=[np.zeros(3, "i4"), 1], types=types)
    module.launch("write_at", grid=1, block=1, args=[np.zeros(3, "f4"), 1], types=types)

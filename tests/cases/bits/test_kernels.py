"""The kernels of ``kernels/`` against NumPy and plain Python, for odd sizes and shapes."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from fatcrate import cpu
from support.listed import Shelf

Array = npt.NDArray[Any]
SOURCE = "tests/cases/kernels"
#: (grid, block): one thread, odd ones, several dimensions, a full warp and more.
SHAPES: list[tuple[Any, Any]] = [(1, 1), (3, 7), ((2, 2), (5, 2, 3)), (2, 128)]
SIZES = [0, 1, 2, 31, 64, 100, 257]

Launch = Callable[..., None]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Linked code; with ``--full`` as it was merged, too (``test_same_bits.py`` compares them)."""
    if "kernel" in metafunc.fixturenames:
        stages = ["unoptimised", "linked"] if metafunc.config.getoption("--full") else ["linked"]
        metafunc.parametrize("kernel", stages, indirect=True, scope="module")


@pytest.fixture(scope="module")
def kernel(shelf: Shelf, request: pytest.FixtureRequest) -> Iterator[Launch]:
    """Launches a kernel, ``TARGET.KERNEL``, with guard bands and changing schedules."""
    modules: dict[str, cpu.Module] = {}
    count = 0

    def run(name: str, grid: Any, block: Any, *args: Any) -> None:
        nonlocal count
        target, _, kernel = name.partition(".")
        if target not in modules:
            linked, manifest = shelf.files({"source": SOURCE, "target": target})
            modules[target] = cpu.Module(linked, manifest, stage=request.param)
        count += 1
        schedule = f"shuffled:{count}" if count % 2 else "in-order"
        modules[target].launch(kernel, grid=grid, block=block, args=args, schedule=schedule)

    yield run
    for module in modules.values():
        module.close()


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Numbers that repeat."""
    return np.random.default_rng(len(request.node.originalname))


# --- transforms, matrices, bodies -----------------------------------------------------------


@pytest.mark.parametrize(("kind", "tolerance"), [("f32", 3e-6), ("f64", 3e-15)])
def test_fft(kernel: Launch, rng: np.random.Generator, kind: str, tolerance: float) -> None:
    element = "c8" if kind == "f32" else "c16"
    for bits in (0, 1, 2, 5, 9):
        for batches, (grid, block) in zip((1, 3, 5, 2), SHAPES, strict=True):
            x = (rng.normal(size=(batches, 1 << bits, 2)) @ [1, 1j]).astype(element)
            for inverse in (False, True):
                y = np.zeros_like(x)
                kernel(f"fft.fft_{kind}", grid, block, x, y, batches, bits, inverse)
                exact = np.fft.ifft(x) * (1 << bits) if inverse else np.fft.fft(x)
                assert np.abs(y - exact).max() <= tolerance * np.abs(exact).max()


@pytest.mark.parametrize(("kind", "size"), [("f32", 16), ("f64", 8), ("i32", 5), ("u8", 16)])
def test_matmul(kernel: Launch, rng: np.random.Generator, kind: str, size: int) -> None:
    dtype = {"f32": "f4", "f64": "f8", "i32": "i4", "u8": "u1"}[kind]
    for m, k, n in [(1, 1, 1), (size, size, size), (17, 33, 9), (3, 0, 4), (31, 5, 40)]:
        if dtype[0] == "f":
            a, b = (rng.normal(size=s).astype(dtype) for s in ((m, k), (k, n)))
        else:
            info = np.iinfo(dtype)
            a, b = (
                rng.integers(info.min, info.max, s, dtype, endpoint=True) for s in ((m, k), (k, n))
            )
        c, exact = np.full((m, n), 77, dtype), np.zeros((m, n), dtype)
        grid = (-(-n // size), -(-m // size))
        kernel(f"matmul.matmul_{kind}", grid, (size, size), a, b, c, m, k, n)
        for i in range(k):  # in the order of the kernel, each step rounded
            exact += a[:, i : i + 1] * b[i]
        assert c.tobytes() == exact.tobytes()


def wide(numbers: Sequence[int]) -> Array:
    """Integers of 128 bits, as pairs of words."""
    return np.frombuffer(b"".join((x % 2**128).to_bytes(16, "little") for x in numbers), "u8")


def test_matmul_of_wide_integers(kernel: Launch, rng: np.random.Generator) -> None:
    m, k, n = 5, 6, 7
    a, b = (
        [int.from_bytes(rng.bytes(16), "little", signed=True) for _ in range(c)]
        for c in (m * k, k * n)
    )
    c = np.zeros(2 * m * n, "u8")
    kernel("matmul.matmul_i128", (2, 2), (4, 4), wide(a), wide(b), c, m, k, n)
    exact = [sum(a[i * k + x] * b[x * n + j] for x in range(k)) for i in range(m) for j in range(n)]
    assert c.tobytes() == wide(exact).tobytes()


@pytest.mark.parametrize("name", ["accelerations", "accelerations_plain"])
def test_nbody(kernel: Launch, rng: np.random.Generator, name: str) -> None:
    for n in SIZES:
        bodies = rng.uniform(0.1, 1, (n, 4)).astype("f4")
        out = np.zeros((n, 3), "f4")
        kernel(f"nbody.{name}", max(1, -(-n // 60)), (4, 5, 3), bodies, out, n, 0.01)
        place = bodies[:, :3].astype("f8")
        ways = place[None] - place[:, None]
        cubes = ((ways**2).sum(-1) + np.float64(np.float32(0.01))) ** -1.5
        exact = (ways * (bodies[None, :, 3] * cubes)[..., None]).sum(1)
        assert np.allclose(out, exact, rtol=2e-4, atol=2e-3)


def test_nbody_step(kernel: Launch, rng: np.random.Generator) -> None:
    n, time = 45, np.float32(0.3)
    bodies = rng.normal(size=(n, 4)).astype("f4")
    speeds, pulls = (rng.normal(size=(n, 3)).astype("f4") for _ in range(2))
    after = speeds + pulls * time
    places = bodies.copy()
    places[:, :3] += after * time
    kernel("nbody.step", 3, 7, bodies, speeds, pulls, n, time)
    assert speeds.tobytes() == after.tobytes()
    assert bodies.tobytes() == places.tobytes()


def test_mandelbrot(kernel: Launch) -> None:
    width, height, limit = 45, 23, 60
    counts, last = np.zeros(width * height, "u4"), np.zeros(width * height, "c16")
    kernel("mandelbrot.mandelbrot", (6, 5), (8, 5), counts, last, width, height, limit)
    for i in range(width * height):
        cx, cy = i % width / width * 3.5 - 2.5, i // width / height * 2.5 - 1.25
        x = y = 0.0
        steps = 0
        while steps < limit and x * x + y * y <= 4.0:
            x, y, steps = x * x - y * y + cx, x * y + y * x + cy, steps + 1
        assert (counts[i], last[i].real, last[i].imag) == (steps, x, y)


# --- scans, sorting, counting ---------------------------------------------------------------


def scanned(
    kernel: Launch, name: str, x: Array, width: int, grid: int, block: int, neutral: Array
) -> Array:
    """An exclusive scan with kernels for blocks and for their totals."""
    n = len(x) // width
    y, totals = np.zeros_like(x), np.zeros(grid * width, x.dtype)
    kernel(f"scan.scan_{name}", grid, block, x, y, totals, n)
    if grid > 1:
        rounds = -(-grid // 256)
        offsets = scanned(kernel, name, totals, width, rounds, min(grid, 256), neutral)
        kernel(f"scan.shift_{name}", grid, block, y, offsets, n)
    return y


def folded(x: Sequence[Any], neutral: Any, then: Callable[[Any, Any], Any]) -> list[Any]:
    """What stands before each element."""
    found = []
    for element in x:
        found.append(neutral)
        neutral = then(neutral, element)
    return found


@pytest.mark.parametrize("block", [1, 7, 32, 255, 256])
def test_scan(kernel: Launch, rng: np.random.Generator, block: int) -> None:
    def affine(first: Any, then: Any) -> Any:
        return first[0] * then[0] % 65536, (first[1] * then[0] + then[1]) % 65536

    for n in SIZES:
        grid = max(1, -(-n // block))
        x = rng.integers(0, 2**32, n, "u4")
        exact = folded(x.tolist(), 0, lambda a, b: (a + b) % 2**32)
        assert scanned(kernel, "sum", x, 1, grid, block, np.zeros(1)).tolist() == exact
        y = rng.integers(-(2**63), 2**63 - 1, n, "i8")
        exact = folded(y.tolist(), -(2**63), max)
        assert scanned(kernel, "largest", y, 1, grid, block, np.zeros(1)).tolist() == exact
        z = rng.integers(0, 2**16, 2 * n, "u2")
        pairs = folded(z.reshape(n, 2).tolist(), (1, 0), affine)
        found = scanned(kernel, "affine", z, 2, grid, block, np.zeros(1))
        assert list(map(tuple, found.reshape(n, 2).tolist())) == pairs


@pytest.mark.parametrize("kind", ["u32", "i32", "f32", "i64", "f64", "i8"])
def test_radix_sort(kernel: Launch, rng: np.random.Generator, kind: str) -> None:
    """All passes, so that each must be stable."""
    dtype = np.dtype(f"{kind[0]}{int(kind[1:]) // 8}")
    for n, block in [(0, 8), (1, 1), (100, 7), (257, 128), (300, 33)]:
        x = np.frombuffer(rng.bytes(n * dtype.itemsize), dtype).copy()
        if dtype.kind == "f":
            x[np.isnan(x)] = -0.0
            x[n // 2 :] = rng.normal(size=n - n // 2)
        x[: n // 4] = x[n // 4 : n // 4 * 2]
        exact = np.sort(x)
        if dtype.kind == "f":  # -0 before +0
            exact = np.array(sorted(x.tolist(), key=lambda v: (v, math.copysign(1, v))), dtype)
        grid = max(1, -(-n // block))
        for shift in range(0, dtype.itemsize * 8, 4):
            counts, y = np.zeros(16 * grid, "u4"), np.zeros_like(x)
            kernel(f"radix.count_{kind}", grid, block, x, n, shift, counts)
            kernel("radix.offsets", 1, 100, counts, 16 * grid)
            kernel(f"radix.scatter_{kind}", grid, block, x, y, n, shift, counts)
            x = y
        assert x.tobytes() == exact.tobytes()


@pytest.mark.parametrize("name", ["bytes:u1", "halves:u2", "words:i4", "longs:u8", "floats:f4"])
def test_histogram(kernel: Launch, rng: np.random.Generator, name: str) -> None:
    name, _, code = name.partition(":")
    dtype = np.dtype(code)
    for n, (grid, block) in zip((0, 1, 999, 2000), SHAPES, strict=True):
        raw = np.frombuffer(rng.bytes(n * dtype.itemsize), np.dtype(f"u{dtype.itemsize}"))
        top = (raw >> np.array(8 * dtype.itemsize - 8, raw.dtype)).astype("u1")
        if dtype.kind == "i":
            top = top ^ 0x80
        if dtype.kind == "f":
            top = np.where(top >= 0x80, ~top, top | 0x80)
        bins = rng.integers(0, 9, 256).astype("u4")
        exact = bins + np.bincount(top, minlength=256).astype("u4")
        kernel(f"histogram.{name}", grid, block, raw.view(dtype), n, bins)
        assert bins.tolist() == exact.tolist()


def test_facts_by_atomics(kernel: Launch, rng: np.random.Generator) -> None:
    for n, (grid, block) in zip((0, 1, 999, 40), SHAPES, strict=True):
        x = rng.integers(-(2**31), 2**31 - 1, n, "i4")
        facts = np.zeros(1, "u8,i4,i4,u4,u4,u4,u4")
        facts[0] = (2**63, 5, -5, 2**32 - 1, 0, 9, 1)
        kernel("histogram.facts", grid, block, x, n, facts.view("u8"))
        bits = [v % 2**32 for v in x.tolist()]
        assert facts[0].tolist() == (
            (2**63 + int(x.sum(dtype="i8"))) % 2**64,
            min([5, *x.tolist()]),
            max([-5, *x.tolist()]),
            int(np.bitwise_and.reduce(np.array([2**32 - 1, *bits], "u4"))),
            int(np.bitwise_or.reduce(np.array([0, *bits], "u4"))),
            int(np.bitwise_xor.reduce(np.array([9, *bits], "u4"))),
            math.prod(v | 1 for v in bits) % 2**32,
        )


def test_weighted_histogram(kernel: Launch, rng: np.random.Generator) -> None:
    n = 500
    places, weights = rng.integers(0, 12, n, "u4"), rng.normal(size=n).astype("f4")
    bins = np.zeros(10, "u8")
    kernel("histogram.weighted", 3, 50, places, weights, n, bins, 10)
    exact = [0] * 12
    for place, weight in zip(places.tolist(), weights.tolist(), strict=True):
        exact[place] += int(weight * 65536)
    assert bins.view("i8").tolist() == exact[:10]


# --- bytes and graphs -----------------------------------------------------------------------


def ragged(rows: Sequence[bytes]) -> tuple[Array, Array]:
    """Offsets of rows, and their bytes."""
    offsets = np.cumsum([0, *map(len, rows)]).astype("u4")
    return offsets, np.frombuffer(b"".join(rows), "u1").copy()


def test_sha256(kernel: Launch, rng: np.random.Generator) -> None:
    lengths = [*range(70), *range(117, 130), 1000]
    rows = [rng.bytes(length) for length in lengths]
    offsets, text = ragged(rows)
    for grid, block in SHAPES[1:]:
        out = np.zeros((len(rows), 32), "u1")
        kernel("sha.sha256", grid, block, offsets, len(rows), text, out)
        assert [bytes(d) for d in out] == [hashlib.sha256(row).digest() for row in rows]


def test_sha256_of_numbers(kernel: Launch) -> None:
    found, tried = np.zeros(3, "u8"), np.zeros(3, "u4")
    kernel("sha.mine", 1, 3, 2**64 - 20, 7, found, tried)
    for thread in range(3):
        for count in range(1, 1001):
            number = (2**64 - 20 + (thread << 32) + count - 1) % 2**64
            if hashlib.sha256(number.to_bytes(8, "little")).digest()[0] < 2:
                break
        assert (found[thread], tried[thread]) == (number, count)


def graph(rng: np.random.Generator, nodes: int) -> list[list[int]]:
    """Neighbours, few on the average, with loops and double edges."""
    return [rng.integers(0, nodes, rng.integers(0, 4)).tolist() for _ in range(nodes)]


@pytest.mark.parametrize("nodes", [1, 2, 50, 300])
def test_breadth_first_search(kernel: Launch, rng: np.random.Generator, nodes: int) -> None:
    edges = graph(rng, nodes)
    offsets = np.cumsum([0, *map(len, edges)]).astype("u4")
    flat = np.array([*itertools.chain(*edges)], "u4")
    far = 2**32 - 1
    exact, waiting = [far] * nodes, deque([0])
    exact[0] = 0
    while waiting:
        node = waiting.popleft()
        for other in edges[node]:
            if exact[other] == far:
                exact[other] = exact[node] + 1
                waiting.append(other)
    for grid, block in SHAPES[1:]:
        distances, queue, level = np.full(nodes, far, "u4"), np.zeros(1, "u4"), 0
        distances[0] = 0
        while len(queue):
            following, count = np.zeros(nodes, "u4"), np.zeros(1, "u4")
            args = (offsets, nodes, flat, distances, queue, len(queue), following, count, level)
            kernel("bfs.expand", grid, block, *args)
            queue, level = following[: count[0]].copy(), level + 1
        assert distances.tolist() == exact


def test_shortest_paths(kernel: Launch, rng: np.random.Generator) -> None:
    nodes = 120
    edges = graph(rng, nodes)
    weights = [rng.integers(0, 50, len(row)).tolist() for row in edges]
    offsets = np.cumsum([0, *map(len, edges)]).astype("u4")
    flat = np.stack(
        [np.array([*itertools.chain(*edges)], "u4"), np.array([*itertools.chain(*weights)], "u4")],
        1,
    ).copy()
    exact = [0] + [2**32 - 1] * (nodes - 1)
    for _ in range(nodes):
        for node in range(nodes):
            for other, weight in zip(edges[node], weights[node], strict=True):
                exact[other] = min(exact[other], exact[node] + weight)
    distances, changed = np.full(nodes, 2**32 - 1, "u4"), np.ones(1, "u4")
    distances[0] = 0
    while changed[0]:
        changed[0] = 0
        kernel("bfs.relax", 2, 33, offsets, nodes, flat, distances, changed)
    assert distances.tolist() == [min(d, 2**32 - 1) for d in exact]


def parsed(kernel: Launch, name: str, rows: list[bytes], values: Array) -> list[Any]:
    """Values of rows, and codes where there is none."""
    offsets, text = ragged(rows)
    codes = np.full(len(rows), 99, "u4")
    kernel(f"parse.{name}", 2, 50, offsets, len(rows), text, values, codes)
    pairs = zip(codes.tolist(), values.tolist(), strict=True)
    return [value if code == 0 else f"E{code}" for code, value in pairs]


def test_parsers_of_our_own(kernel: Launch) -> None:
    rows = [b"", b"7", b" -12\t", b"2147483647", b"2147483648", b"-2147483648", b"-2147483649"]
    rows += [b"99999999999999999999", b"18446744073709551616", b"1x", b"--1", b"1 2", b"00012"]
    found = parsed(kernel, "integers", rows, np.zeros(len(rows), "i4"))
    unexpected = f"E{2 | ord('-') << 8}"
    assert found == [
        "E1", 7, -12, 2147483647, "E3", -2147483648, "E3",
        "E3", "E3", f"E{4 | 1 << 8}", unexpected, f"E{4 | 2 << 8}", 12,
    ]  # fmt: skip
    rows = [b"18446744073709551615", b"18446744073709551616", b"", b"12a"]
    found = parsed(kernel, "longs", rows, np.zeros(len(rows), "u8"))
    assert found == [2**64 - 1, "E3", "E1", f"E{4 | 2 << 8}"]
    rows = [b"1,true", b"23 ,  false ", b"1", b"1,trze", b"1;true", b",true", b"4,t"]
    found = parsed(kernel, "pairs", rows, np.zeros((len(rows), 2), "u8"))
    codes = [f"E{2 | ord(c) << 8}" for c in "z;,"]
    assert found == [[1, 1], [23, 0], "E1", *codes, "E1"]
    rows = [b"[]", b"[1]", b"[1, , -2,3 ]", b"[,,]", b"1", b"[1", b"[1 2]", b"[2147483648]"]
    found = parsed(kernel, "lists", rows, np.zeros((len(rows), 2), "i8"))
    codes = [f"E{2 | ord(c) << 8}" for c in "12"]
    assert found == [[0, 0], [1, 1], [2, 3], [0, 0], codes[0], "E1", codes[1], "E3"]


def test_parsers_of_core(kernel: Launch, rng: np.random.Generator) -> None:
    numbers = [0, -1, 2**63 - 1, -(2**63), *rng.integers(-(2**63), 2**63 - 1, 50, "i8").tolist()]
    rows = [str(n).encode() for n in numbers] + [b"", b"+", b"1_0", b"9223372036854775808", b"\xff"]
    found = parsed(kernel, "core_integers", rows, np.zeros(len(rows), "i8"))
    assert found == [*numbers, *["E2"] * 4, "E5"]
    numbers = [2**127 - 1, -(2**127), 10**38, -(10**19), *(3**k for k in range(80))]
    found = parsed(
        kernel, "core_wide", [str(n).encode() for n in numbers], np.zeros((len(numbers), 2), "u8")
    )
    assert [(low + (high << 64)) for low, high in found] == [n % 2**128 for n in numbers]


HARD = ["0", "-0", "1", ".5", "5.", "1e5", "1E-5", "inf", "-inf", "1e400", "-1e400", "1e-400"]
HARD += ["4.9e-324", "2.4703282292062328e-324", "9007199254740993", "16777217", "3.4e38"]
HARD += ["9007199254740993.0000000000000000000000000000001", "2.2250738585072011e-308"]
HARD += ["1.7976931348623158e308", "1.7976931348623159e308"]


@pytest.mark.parametrize(("name", "dtype"), [("core_doubles", "f8"), ("core_singles", "f4")])
def test_floats_by_core(kernel: Launch, rng: np.random.Generator, name: str, dtype: str) -> None:
    """core's decimal to binary conversion, with its slow paths."""
    rows = [*HARD]
    rows += [f"{rng.uniform(1, 10)!r}e{rng.integers(-340, 310)}" for _ in range(60)]
    rows += ["0." + "".join(map(str, rng.integers(0, 10, 120))) for _ in range(10)]
    bad = ["", ".", "e5", "1e", "--1", "0x10", "1 2"]
    found = parsed(kernel, name, [r.encode() for r in rows + bad], np.zeros(len(rows + bad), dtype))
    with np.errstate(over="ignore"):
        exact = np.array(rows).astype(dtype)
    assert np.array(found[: len(rows)], dtype).tobytes() == exact.tobytes()
    assert found[len(rows) :] == ["E2"] * len(bad)


def test_lower_case_by_core(kernel: Launch) -> None:
    rows = ["", "Straße", "ÀÉ", "ΑΣ", "İ", "Ǆ", "𐐀", "aB9"]
    found = parsed(kernel, "core_chars", [r.encode() for r in rows], np.zeros(len(rows), "u4"))
    for row, value in zip(rows, found, strict=True):
        exact = 0
        for char in (c for letter in row for c in letter.lower()):  # one by one: no final sigma
            exact = exact * 31 % 2**32 ^ ord(char)
        assert value == exact

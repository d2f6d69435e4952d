"""Every kernel of every example on the CPU against NumPy, from unoptimised and linked code."""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from fatcrate import cpu
from fatcrate.lto import isolate
from fatcrate.lto.cpu import irtext

Array = npt.NDArray[Any]

#: (elements, blocks, threads per block): fewer, as many and more elements than threads; blocks
#: that are no power of two; more dimensions than one.
SHAPES: list[tuple[int, Any, Any]] = [
    (1, 1, 1),
    (0, 1, 32),
    (100, 3, 7),
    (1000, 4, 256),
    (1023, 4, 255),
    (4099, (2, 3), (5, 2, 3)),
    (20011, 9, 96),
]
SCHEDULES = ["in-order", "shuffled:1", "shuffled:2"]


def fatcrate(*argv: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the command."""
    return subprocess.run(
        [sys.executable, "-m", "fatcrate", *map(str, argv)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


@dataclass
class Built:
    """Examples that Ninja has built, each once."""

    root: Path
    folder: Path

    def out(self, example: str) -> Path:
        """The output folder of an example."""
        out = self.folder / example
        if not out.exists():
            project = self.root / "examples" / example
            done = fatcrate("build", "-C", project, "--out", out, "--archs", "sm_90")
            assert done.returncode == 0, done.stderr + done.stdout
        return out

    def files(self, example: str, target: str) -> tuple[Path, Path]:
        out = self.out(example)
        return out / target / "linked.bc", out / f"{target}.manifest.json"


@pytest.fixture(scope="module")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(root, tmp_path_factory.mktemp("examples"))


Open = Callable[[str, str], cpu.Module]


@pytest.fixture(scope="module", params=["unoptimised", "linked"])
def load(request: pytest.FixtureRequest, built: Built) -> Iterator[Open]:
    """Gives the module of an example's target."""
    made: dict[str, cpu.Module] = {}

    def get(example: str, target: str) -> cpu.Module:
        if example not in made:
            made[example] = cpu.Module(*built.files(example, target), stage=request.param)
        return made[example]

    yield get
    for module in made.values():
        module.close()


def count(size: Any) -> int:
    return math.prod(size) if isinstance(size, tuple) else int(size)


def numbers(n: int, seed: int, kind: str = "float32") -> Array:
    return np.random.default_rng(seed).standard_normal(n).astype(kind)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("n", "grid", "block"), SHAPES)
def test_saxpy(load: Open, n: int, grid: Any, block: Any, schedule: str) -> None:
    x, y = numbers(n, 1), numbers(n, 2)
    # The kernel's index is one-dimensional: what lies beyond the grid stays.
    width = (grid if isinstance(grid, int) else grid[0]) * (
        block if isinstance(block, int) else block[0]
    )
    expected = y.copy()
    if isinstance(grid, int):
        expected[:width] = np.float32(2.5) * x[:width] + y[:width]
        load("saxpy", "saxpy").launch(
            "saxpy", grid=grid, block=block, args=[n, 2.5, x, y], schedule=schedule
        )
        np.testing.assert_array_equal(y, expected)


def reduced(
    x: Array, neutral: float, combine: Callable[..., Array], grid: int, block: int
) -> Array:
    """What the kernels compute, step by step in the same order, with NumPy."""
    threads = grid * block
    rows = -(-len(x) // threads)
    padded = np.full(rows * threads, neutral, x.dtype)
    padded[: len(x)] = x
    own = np.full(threads, neutral, x.dtype)
    for row in padded.reshape(rows, threads):
        own = combine(own, row)
    tile = own.reshape(grid, block).copy()
    width = block
    while width > 1:
        half = -(-width // 2)
        tile[:, : width - half] = combine(tile[:, : width - half], tile[:, half:width])
        width = half
    return tile[:, 0].copy()


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("n", "grid", "block"), SHAPES)
def test_reductions(load: Open, n: int, grid: Any, block: Any, schedule: str) -> None:
    module = load("reduce", "reduce")
    x, y, blocks, threads = numbers(n, 3), numbers(n, 4), count(grid), count(block)

    def run(kernel: str, *arrays: Array) -> Array:
        out = np.full(blocks, np.nan, np.float32)
        args = [*arrays, n, out, blocks]
        module.launch(kernel, grid=grid, block=block, args=args, schedule=schedule)
        return out

    total = reduced(x, 0.0, np.add, blocks, threads)
    np.testing.assert_array_equal(run("sum", x), total)
    largest = reduced(x, -np.inf, np.fmax, blocks, threads)
    np.testing.assert_array_equal(run("max", x), largest)
    products = x.astype("f8") * y.astype("f8")
    inner = reduced(products, 0.0, np.add, blocks, threads).astype("f4")
    np.testing.assert_array_equal(run("dot", x, y), inner)
    result = run("log_sum_exp", x)
    if n:
        with np.errstate(over="ignore"):
            whole = np.log(np.exp(result.astype("f8")).sum())
        assert whole == pytest.approx(np.log(np.exp(x.astype("f8")).sum()), rel=1e-6)
        assert np.all((result >= largest) | np.isnan(result))


@pytest.mark.parametrize(("n", "grid", "block"), SHAPES)
def test_normalize(load: Open, n: int, grid: Any, block: Any) -> None:
    x, squares = numbers(n, 5), np.abs(numbers(6, 6))
    length = np.float32(0)
    for square in squares:
        length = np.float32(length + square)
    reach = count(grid) * count(block)
    expected = x.copy()
    expected[:reach] = x[:reach] / np.sqrt(length)
    load("reduce", "reduce").launch("normalize", grid=grid, block=block, args=[x, n, squares, 6])
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_great_circle_distances(load: Open, kind: str) -> None:
    random, n = np.random.default_rng(7), 3001
    latitude = random.uniform(-1.5, 1.5, n).astype(kind)
    longitude = random.uniform(-3, 3, n).astype(kind)
    out = np.zeros(n, kind)
    name = f"distances_{'f32' if kind == 'float32' else 'f64'}"
    load("registry", "great_circle").launch(
        name, grid=12, block=256, args=[latitude, longitude, out, n]
    )
    north, east = latitude.astype("f8"), longitude.astype("f8")
    north_part = np.sin((north - 0.9) / 2) ** 2
    a = north_part + np.cos(0.9) * np.cos(north) * np.sin((east - np.pi / 6) / 2) ** 2
    expected = 2 * np.arcsin(np.minimum(np.sqrt(a), 1))
    np.testing.assert_allclose(out, expected, atol=2e-5 if kind == "float32" else 1e-13)


def test_registry_functions(load: Open) -> None:
    module = load("registry", "great_circle")
    x = np.random.default_rng(8).uniform(0.1, 20, 500)
    expected = [math.gamma(v) * math.erf(v) for v in x]
    module.launch("special", grid=4, block=128, args=[x, 500])
    np.testing.assert_allclose(x, expected, rtol=4e-15)
    a = np.array([3, 1 << 20, -5, 1 << 30, -(1 << 31)], np.int32)
    b = np.array([4, 1 << 20, 7, 2, -1], np.int32)
    module.launch("products", grid=1, block=8, args=[a, b, 5])
    assert a.tolist() == [12, 2**31 - 1, -35, 2**31 - 1, 2**31 - 1]


def test_registry_sources_are_as_published(root: Path) -> None:
    vendor = root / "examples" / "registry" / "vendor"
    lock = (vendor.parent / "Cargo.lock").read_text()
    packages = sorted(vendor.iterdir())
    assert {"libm-0.2.16", "num-traits-0.2.19"} <= {p.name for p in packages}
    for package in packages:
        record = json.loads((package / ".cargo-checksum.json").read_text())
        assert f'checksum = "{record["package"]}"' in lock
        found = {
            str(p.relative_to(package)): hashlib.sha256(p.read_bytes()).hexdigest()
            for p in package.rglob("*")
            if p.is_file() and p.name != ".cargo-checksum.json"
        }
        assert found == record["files"]


def test_command_line(built: Built, tmp_path: Path) -> None:
    out = built.out("saxpy")
    x, y = numbers(1024, 9), numbers(1024, 10)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    launch = ["run", "saxpy", "saxpy", "--out", out, "--grid", "4", "--block", "128"]
    files = ["--arg", "in:x.npy", "--arg", "inout:y.npy"]
    done = fatcrate(*launch, "--arg", "1024", "--arg", "2.5", *files, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("saxpy: 512 threads in 4 blocks, ")
    assert done.stdout.endswith("ms on the CPU (linked code)\nwrote y.npy\n")
    expected = y.copy()
    expected[:512] += np.float32(2.5) * x[:512]
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), expected)
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), x)


def test_command_line_faults(built: Built, tmp_path: Path) -> None:
    out = built.out("saxpy")
    launch = ["run", "saxpy", "saxpy", "--out", out]
    before = sorted(p.name for p in tmp_path.iterdir())

    def refused(code: int, *argv: str | Path) -> str:
        done = fatcrate(*argv, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr

    small = ["--arg", "300", "--arg", "1", "--arg", "zeros:f32:300", "--arg", "out:y.npy:f32:200"]
    text = refused(1, *launch, "--grid", "3", "--block", "128", *small)
    assert "FC0606" in text and "element 200 of 200" in text
    assert "FC0603" in refused(1, *launch, "--arg", "1")
    assert "FC0602" in refused(1, "run", "saxpy", "sayxp", "--out", out)
    assert "FC0613" in refused(1, "run", "other", "saxpy", "--out", out)
    assert "fatcrate build saxpy" in refused(1, "run", "saxpy", "saxpy", "--out", "nowhere")
    assert "FC0601" in refused(1, *launch, "--block", "2048")
    assert "FC0601" in refused(1, *launch, "--schedule", "random")
    assert "FC0614" in refused(2, *launch, "--grid", "1,2,3,4")
    assert "FC0614" in refused(2, *launch, "--timeout", "0")
    assert "FC0614" in refused(2, "run", "saxpy", "--out", out)
    assert "FC0614" in refused(2, "run", "--module", "x.bc", "saxpy")
    assert "unrecognized arguments" in refused(2, *launch, "--frobnicate")
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_command_line_lists_kernels(built: Built) -> None:
    done = fatcrate("run", "reduce", "--list", "--out", built.out("reduce"))
    one = "pointer, 64-bit integer, pointer, 64-bit integer"
    assert done.stdout.splitlines() == [
        f"dot(pointer, {one}), 2048 bytes of shared memory",
        f"log_sum_exp({one}), 1024 bytes of shared memory",
        f"max({one}), 1024 bytes of shared memory",
        f"normalize({one})",
        f"sum({one}), 1024 bytes of shared memory",
    ]


def without_call(linked: bytes, kernel: str, index: int, call: str) -> bytes | None:
    """The module with one call in a kernel left out; None when there are not so many."""

    def work() -> bytes | None:
        from fatcrate.lto.llvm import LlvmliteEngine

        engine = LlvmliteEngine()
        text = irtext.parse(engine.parse_bitcode(linked).text())
        body = text.functions[kernel].body
        lines = [i for i, line in enumerate(body) if call in line]
        if index >= len(lines):
            return None
        del body[lines[index]]
        return engine.parse_text(text.render()).bitcode()

    return isolate.run(work)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        # The last barrier guards a reuse of the tile that never comes.
        ("sum", [True, True, False]),
        ("dot", [True, True, False]),
        ("max", [True, True, False]),
        # Two reductions in one tile. The numbers are so large that a wrong maximum overflows.
        ("log_sum_exp", [True, True, True, True, True, False]),
    ],
)
def test_missing_barrier_is_caught(built: Built, kernel: str, expected: list[bool]) -> None:
    """Removes each barrier of a kernel in turn: the result changes, or an error comes."""
    linked, manifest = built.files("reduce", "reduce")
    n, grid, block = 1500, 3, 100
    arrays = [10000 * numbers(n, 11)] * (2 if kernel == "dot" else 1)

    def results(module: cpu.Module) -> Iterator[Array]:
        for schedule in (*SCHEDULES, "shuffled:3"):
            out = np.zeros(grid, np.float32)
            args = [*arrays, n, out, grid]
            module.launch(kernel, grid=grid, block=block, args=args, schedule=schedule)
            yield out

    with cpu.Module(linked, manifest) as module:
        good, *others = results(module)
        assert all(np.array_equal(other, good) for other in others)
    caught = []
    call = "call void @__fc_barrier()"
    for index in range(len(expected) + 1):
        mutant = without_call(linked.read_bytes(), kernel, index, call)
        if mutant is None:
            break
        with cpu.Module(mutant, manifest) as module:
            try:
                caught.append(any(not np.array_equal(out, good) for out in results(module)))
            except cpu.FatcrateError:
                caught.append(True)
    assert caught == expected

"""Launches of kernels with random inputs, stated in tables, compared between stages of code.

A launch is a list ``[kernel, grid, block, argument…]``, as TOML can hold it. A pattern
(``*_f32``) means all kernels of such names that have as many parameters and no line of their
own. ``grid`` and ``block`` are numbers, lists of up to three, or ``"*"``: a shape drawn per
round. An argument is

* a number, or ``"null"``;
* ``KIND`` or ``KIND::BOUND``: a random scalar, such as ``"f32"`` or ``"u32::10"``;
* ``KIND:LENGTH`` or ``KIND:LENGTH:BOUND``: a random array. LENGTH is arithmetic over ``n`` (a
  size drawn per round: none, one, odd, more than the threads …), ``threads`` and ``blocks`` (of
  the launch), and ``block`` (threads in a block). Integers with a bound lie below it; floats
  with the bound ``finite`` are of ordinary size, others hold NaN, infinities, subnormals too.
  Integers with the bound ``offsets`` begin with 0 and rise by 0 to 7 each, and with the bound
  ``text`` they are bytes of numbers and their punctuation;
* any other text: such arithmetic, a number for a scalar;
* a list of an argument and a count: the argument that many times.

A table at the end gives options: ``shared`` (bytes of dynamic shared memory, arithmetic) and
``traps = true`` (threads may panic: how many is compared then).

The runner sets guard bands and pages without access before and after each buffer, and ends a
launch that touched them with an error.
"""

from __future__ import annotations

import ast
import dataclasses
import fnmatch
import operator
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from fatcrate import cpu

Array = npt.NDArray[Any]
Shape = tuple[int, int, int]

#: Code as merged, and after the optimiser at several levels.
STAGES: tuple[tuple[cpu.Stage, str], ...] = (
    ("unoptimised", "0"),
    ("linked", "0"),
    ("linked", "1"),
    ("linked", "3"),
)
ALL_STAGES: tuple[tuple[cpu.Stage, str], ...] = (*STAGES, ("linked", "2"), ("linked", "s"))
#: (grid, block): single, odd, several dimensions, a full block.
SHAPES: tuple[tuple[Shape, Shape], ...] = (
    ((1, 1, 1), (1, 1, 1)),
    ((3, 1, 1), (7, 1, 1)),
    ((2, 3, 1), (5, 2, 3)),
    ((1, 1, 1), (33, 1, 1)),
    ((2, 1, 2), (4, 4, 2)),
    ((4, 1, 1), (64, 1, 1)),
    ((1, 2, 3), (1, 3, 1)),
    ((2, 1, 1), (256, 1, 1)),
)
SIZES = (33, 0, 1, 255, 2, 64, 7, 1000)
QUICK, FULL = 3, 12  # rounds
#: Offsets rise by less than this.
OFFSET_RISE = 8
_TEXT = b"0123456789" * 3 + b"--,,.eE [] truefalse\xc3\xa4"

_KINDS = {
    "bool": np.dtype(np.bool_),
    **{f"{k}{8 * n}": np.dtype(f"{k}{n}") for k in "iu" for n in (1, 2, 4, 8)},
    **{f"f{8 * n}": np.dtype(f"f{n}") for n in (2, 4, 8)},
}


@dataclass(frozen=True)
class Round:
    """What is drawn once per round: sizes, shapes, schedule, and the source of values."""

    number: int
    n: int
    grid: Shape
    block: Shape

    @property
    def schedule(self) -> str:
        """Threads take turns in order in even rounds."""
        return f"shuffled:{self.number}" if self.number % 2 else "in-order"

    def names(self) -> dict[str, int]:
        """What arithmetic in a table may name."""
        blocks, block = _count(self.grid), _count(self.block)
        return {"n": self.n, "blocks": blocks, "block": block, "threads": blocks * block}


@dataclass(frozen=True)
class Launch:
    """One line of a table."""

    kernel: str
    grid: Any
    block: Any
    arguments: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)


def parse(line: Sequence[Any]) -> Launch:
    """A line of a table; the options stand last."""
    kernel, grid, block, *rest = line
    options = rest.pop() if rest and isinstance(rest[-1], dict) else {}
    unknown = set(options) - {"shared", "traps"}
    assert not unknown, f"{kernel}: unknown options {unknown}"
    return Launch(kernel, grid, block, tuple(rest), options)


def rounds(launch: Launch, salt: str, count: int) -> Iterable[Round]:
    """The rounds of a launch; each kernel begins elsewhere in the lists."""
    start = zlib.crc32(f"{salt}{launch.kernel}".encode())
    for number in range(count):
        grid, block = SHAPES[(start + number) % len(SHAPES)]
        grid = grid if launch.grid == "*" else _shape(launch.grid)
        block = block if launch.block == "*" else _shape(launch.block)
        yield Round(number, SIZES[number % len(SIZES)], grid, block)


def _shape(given: Any) -> Shape:
    x, y, z = (*(given if isinstance(given, list) else [given]), 1, 1)[:3]
    return x, y, z


def _count(shape: Shape) -> int:
    return shape[0] * shape[1] * shape[2]


_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


def number(text: str, names: dict[str, int]) -> int:
    """The value of arithmetic such as ``"4 * n + 1"``."""

    def value(node: ast.expr) -> int:
        if isinstance(node, ast.BinOp):
            return int(_OPERATORS[type(node.op)](value(node.left), value(node.right)))
        if isinstance(node, ast.Name):
            return names[node.id]
        assert isinstance(node, ast.Constant), text
        return int(node.value)

    return value(ast.parse(text, mode="eval").body)


def values(rng: np.random.Generator, kind: str, length: int, bound: str) -> Array:
    """Random elements; without a bound, edges of the type's range are among them."""
    dtype = _KINDS[kind]
    if dtype.kind == "b":
        return rng.integers(0, 2, length).astype(dtype)
    if dtype.kind == "f":
        return _floats(rng, dtype, length, finite=bound == "finite")
    limits = np.iinfo(dtype)
    if bound == "offsets":
        rises = rng.integers(0, OFFSET_RISE, length)
        return (np.cumsum(rises) - rises[:1].sum()).astype(dtype)
    if bound == "text":
        return rng.choice(np.frombuffer(_TEXT, np.uint8), length).astype(dtype)
    if bound:
        return rng.integers(0, int(bound), length, dtype=dtype)
    made = rng.integers(limits.min, limits.max, length, dtype=dtype, endpoint=True)
    edges = np.array([0, 1, limits.min, limits.max, limits.max - 1, limits.min + 1], dtype)
    return np.where(rng.random(length) < 0.3, rng.choice(edges, length), made)


def _floats(rng: np.random.Generator, dtype: np.dtype[Any], length: int, finite: bool) -> Array:
    made = rng.uniform(-4, 4, length).astype(dtype)
    if finite:
        return made
    limits = np.finfo(dtype)
    edges = [np.nan, np.inf, 0.0, 1.0, limits.max, limits.tiny, limits.smallest_subnormal]
    edges += [float(limits.tiny) * 0.75, 0.5, 2.0**31, 2.0**-31]
    with np.errstate(over="ignore"):
        signed = np.array([*edges, *(-x for x in edges)]).astype(dtype)
    whole = rng.integers(0, 256, length * dtype.itemsize, dtype=np.uint8).view(dtype)
    # Every NaN is quiet: what minimum and the like make of others is left open by LLVM.
    whole = np.where(np.isnan(whole), dtype.type(np.nan), whole)
    picked = rng.random(length)
    return np.where(picked < 0.25, rng.choice(signed, length), np.where(picked < 0.5, whole, made))


def arguments(launch: Launch, drawn: Round, salt: str) -> list[Any]:
    """Values for one round; the same for every stage."""
    seed = zlib.crc32(f"{salt}{launch.kernel}{launch.arguments}".encode())
    rng = np.random.default_rng((seed, drawn.number))
    names = drawn.names()
    made: list[Any] = []
    for given in _spread(launch.arguments):
        if not isinstance(given, str):
            made.append(given)
        elif given == "null":
            made.append(None)
        elif (parts := given.split(":"))[0] in _KINDS:
            kind, length, bound = (*parts, "", "")[:3]
            array = values(rng, kind, number(length, names) if length else 1, bound)
            made.append(array if length else array[0])
        else:
            made.append(number(given, names))
    return made


def _spread(given: Sequence[Any]) -> Iterable[Any]:
    for each in given:
        yield from [each[0]] * each[1] if isinstance(each, list) else [each]


def canonical(array: Array) -> bytes:
    """The bits, with one NaN in place of all."""
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.nan, array).astype(array.dtype)
    return array.tobytes()


def run(module: cpu.Module, launch: Launch, drawn: Round, salt: str) -> list[bytes]:
    """What a launch leaves: the arrays, or how many threads trapped."""
    given = arguments(launch, drawn, salt)
    traps = bool(launch.options.get("traps"))
    result = module.launch(
        launch.kernel,
        grid=drawn.grid,
        block=drawn.block,
        args=given,
        shared_bytes=number(str(launch.options.get("shared", 0)), drawn.names()),
        schedule=drawn.schedule,
        allow_traps=traps,
    )
    arrays = [canonical(a) for a in given if isinstance(a, np.ndarray)]
    assert arrays or traps, f"{launch.kernel}: the launch leaves nothing to compare"
    if result.trap_count:  # on a GPU nobody could read the memory any more
        return [str(result.trap_count).encode()]
    return arrays


def outcomes(
    linked: Path | bytes,
    manifest: Path,
    table: Sequence[Sequence[Any]],
    salt: str,
    count: int,
    stage: tuple[cpu.Stage, str],
) -> list[tuple[str, Round, list[bytes]]]:
    """Runs a table on one stage of a module. Statics keep their values between launches."""
    found = []
    with cpu.Module(linked, manifest, stage=stage[0], opt_level=stage[1]) as module:
        kernels = {k.name: len(k.parameters) for k in module.manifest.kernels}
        for launch in expand(table, kernels):
            for drawn in rounds(launch, salt, count):
                found.append((launch.kernel, drawn, run(module, launch, drawn, salt)))
    return found


def compare(
    linked: Path | bytes,
    manifest: Path,
    table: Sequence[Sequence[Any]],
    salt: str,
    full: bool = False,
    others: Sequence[Path | bytes] = (),
) -> int:
    """Every stage of ``linked``, and of ``others``, leaves the same; says how many launches.

    ``others`` are further modules of the same kernels, such as one of unoptimised crates.
    Raises ``AssertionError`` at the first difference, with kernel, stage and round.
    """
    count = FULL if full else QUICK
    wanted = outcomes(linked, manifest, table, salt, count, STAGES[0])
    runs = [(linked, stage) for stage in (ALL_STAGES if full else STAGES)[1:]]
    runs += [(other, stage) for other in others for stage in (STAGES[0], STAGES[-1])]
    for module, stage in runs:
        found = outcomes(module, manifest, table, salt, count, stage)
        for (kernel, drawn, want), (_, _, got) in zip(wanted, found, strict=True):
            assert got == want, f"{kernel} differs in {' '.join(stage)} code: {drawn}"
    return len(wanted) * (1 + len(runs))


def unlisted(
    kernels: Mapping[str, int], table: Sequence[Sequence[Any]], reasons: Mapping[str, str]
) -> list[str]:
    """Kernels that no line launches and no reason excuses; and names that are no kernel's.

    ``kernels`` tells how many parameters each has.
    """
    launched = {launch.kernel for launch in expand(table, kernels)}
    assert all(len(reason) > 10 for reason in reasons.values()), "a reason is a sentence"
    assert not launched & set(reasons), "launched, and yet excused"
    return sorted(set(kernels) ^ (launched | set(reasons)))


def expand(table: Sequence[Sequence[Any]], kernels: Mapping[str, int]) -> list[Launch]:
    """The launches of a table, patterns replaced by the kernels that they mean.

    These have as many parameters as the line has arguments, and no line of their own. A pattern
    that means no kernel stays.
    """
    lines = [parse(line) for line in table]
    named = {line.kernel for line in lines}
    made: list[Launch] = []
    for line in lines:
        count = len(list(_spread(line.arguments)))
        meant = [
            name
            for name, parameters in sorted(kernels.items())
            if name not in named and parameters == count and fnmatch.fnmatchcase(name, line.kernel)
        ]
        made += [dataclasses.replace(line, kernel=name) for name in meant or [line.kernel]]
    return made

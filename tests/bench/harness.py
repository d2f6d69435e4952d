"""What every benchmark shares: its declaration, its result, and timing."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parent.parent.parent
FATCRATE = Path(sys.executable).with_name("fatcrate")


@dataclass(frozen=True)
class Result:
    """``figure`` is seconds or a ratio, the median of ``runs``; ``detail`` says what went in."""

    figure: float
    runs: list[float]
    detail: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Bench:
    """One benchmark. Lower figures are better; ``goal`` is the highest that is good."""

    name: str
    unit: Literal["value", "ratio"]  # seconds, or a ratio of two times
    goal: float
    summary: str  # what is measured, and against what
    run: Callable[[], Result]


def timed(argv: Sequence[str | os.PathLike[str]], *, cwd: Path) -> float:
    """Seconds of wall time that a command takes; its output is shown only when it fails."""
    start = time.perf_counter()
    done = subprocess.run(
        argv, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        print(done.stdout + done.stderr, file=sys.stderr)
        raise SystemExit(f"bench: {' '.join(map(str, argv))}: exit status {done.returncode}")
    return seconds


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


@contextmanager
def workspace() -> Iterator[Path]:
    """A folder that goes away."""
    with tempfile.TemporaryDirectory(prefix="fatcrate-bench-") as folder:
        yield Path(folder)


def build(project: Path, *args: str) -> float:
    """Seconds that `fatcrate build` takes in ``project``."""
    return timed([FATCRATE, "build", *args], cwd=project)

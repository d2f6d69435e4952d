"""Memory that is left, and work that fits into it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from fatcrate.lto import isolate
from fatcrate.toolchain import memory

MIB = 1 << 20


def machine(folder: Path, available_kib: int, groups: str, files: dict[str, str]) -> int | None:
    """What is left on a machine with this ``/proc`` and these control groups."""
    (folder / "proc/self").mkdir(parents=True)
    text = f"MemTotal: 99999999 kB\nMemAvailable: {available_kib} kB\n"
    (folder / "proc/meminfo").write_text(text, encoding="utf-8")
    (folder / "proc/self/cgroup").write_text(groups, encoding="utf-8")
    for name, content in files.items():
        path = folder / "cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return memory.available(str(folder / "proc"), str(folder / "cgroup"))


@pytest.mark.parametrize(
    ("groups", "files", "left"),
    [
        ("", {}, 1000 * 1024),
        ("0::/\n", {}, 1000 * 1024),
        ("0::/a/b\n", {"a/b/memory.max": "max\n", "a/b/memory.current": "5\n"}, 1000 * 1024),
        # The tightest of our group and those around it counts; its page cache can be had.
        (
            "0::/a/b\n",
            {
                "a/b/memory.max": "900000\n",
                "a/b/memory.current": "100000\n",
                "a/memory.max": "500000\n",
                "a/memory.current": "200000\n",
                "a/memory.stat": "anon 7\ninactive_file 1000\nactive_file 9\n",
            },
            301000,
        ),
        # A container sees its own group as the root.
        ("0::/../x\n", {"memory.max": "10\n", "memory.current": "4\n"}, 6),
        ("0::/\n", {"memory.max": "10\n", "memory.current": "40\n"}, 0),
        (
            "3:cpu:/a\n2:memory:/a\n",
            {
                "memory/a/memory.limit_in_bytes": "700\n",
                "memory/a/memory.usage_in_bytes": "300\n",
                "memory/a/memory.stat": "inactive_file 5\ntotal_inactive_file 50\n",
            },
            450,
        ),
    ],
)
def test_available(tmp_path: Path, groups: str, files: dict[str, str], left: int) -> None:
    assert machine(tmp_path, 1000, groups, files) == left


def test_nothing_is_known(tmp_path: Path) -> None:
    assert memory.available(str(tmp_path), str(tmp_path)) is None


def test_this_machine() -> None:
    left = memory.available()
    assert left is None or 0 <= left < 1 << 60
    assert memory.resident(os.getpid()) > MIB
    assert memory.resident(2**22 + 1) == 0


@pytest.mark.parametrize(
    ("room", "need", "running", "fits"),
    [
        (None, 10**18, [(1, 0)], True),
        (0, 100, [], True),
        (99, 100, [(50, 50)], False),
        (100, 100, [(50, 50)], True),
        (140, 100, [(50, 10)], True),  # the other takes 40 more
        (139, 100, [(50, 10)], False),
        (100, 100, [(50, 70)], True),  # took more than was thought
    ],
)
def test_fits(room: int | None, need: int, running: list[tuple[int, int]], fits: bool) -> None:
    assert memory.fits(room, need, running) is fits


def test_workers_wait_for_memory() -> None:
    """With room for one only, work on LLVM runs one after another; with more, at once."""

    def work() -> tuple[float, float]:
        begun = time.monotonic()
        time.sleep(0.2)
        return begun, time.monotonic()

    def overlap(room: int | None) -> bool:
        spans = isolate.run_all([work] * 3, workers=3, need=100 * MIB, room=lambda: room)
        times = [span for span in spans if not isinstance(span, isolate.Failed)]
        assert len(times) == 3
        return any(a[0] < b[0] < a[1] for a in times for b in times)

    assert not overlap(1 * MIB)
    assert overlap(10_000 * MIB)
    assert overlap(None)


def test_what_work_took_is_measured() -> None:
    """The guess was far too low: after the first, no two of the others fit side by side."""

    def work() -> tuple[float, float]:
        block = bytearray(64 * MIB)
        block[::4096] = b"x" * len(block[::4096])
        begun = time.monotonic()
        time.sleep(0.2)
        return begun, time.monotonic()

    found = isolate.run_all([work] * 4, workers=2, need=1, room=lambda: 20 * MIB)
    times = [span for span in found if not isinstance(span, isolate.Failed)]
    last = times[2:]
    assert last[0][1] <= last[1][0] or last[1][1] <= last[0][0]

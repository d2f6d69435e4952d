"""How much memory is left for more work, and whether a piece of work fits into it.

Linux only; elsewhere nothing is known and everything fits. Formats: proc(5), and the kernel's
``Documentation/admin-guide/cgroup-v2.rst`` and ``cgroup-v1/memory.rst``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

Room = Callable[[], int | None]


def available(proc: str = "/proc", cgroups: str = "/sys/fs/cgroup") -> int | None:
    """Bytes that processes like this one can still take; None when the system does not tell.

    That is what the machine has free or can free, or less where a control group that this
    process belongs to leaves less.
    """
    rooms = list(_group_rooms(proc, cgroups))
    for line in _lines(f"{proc}/meminfo"):
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            rooms.append(int(rest.split()[0]) * 1024)
    return max(0, min(rooms)) if rooms else None


def _group_rooms(proc: str, cgroups: str) -> Iterator[int]:
    """What each control group leaves, from ours up to the root."""
    for line in _lines(f"{proc}/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            base, limit, usage, cache = cgroups, "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            base, cache = f"{cgroups}/memory", "total_inactive_file"
            limit, usage = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        parts = [part for part in path.split("/") if part]
        for depth in range(len(parts), -1, -1):
            folder = "/".join([base, *parts[:depth]])
            most, used = _number(f"{folder}/{limit}"), _number(f"{folder}/{usage}")
            if most is not None and used is not None:
                yield most - used + _statistic(f"{folder}/memory.stat", cache)


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read().splitlines()
    except OSError:
        return []


def _number(path: str) -> int | None:
    text = "".join(_lines(path))
    return int(text) if text.isdigit() else None  # "max" is no limit


def _statistic(path: str, name: str) -> int:
    return sum(int(line.split()[1]) for line in _lines(path) if line.startswith(f"{name} "))


def resident(process: int) -> int:
    """Bytes that a process has in memory; 0 when it is gone."""
    for line in _lines(f"/proc/{process}/statm"):
        return int(line.split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def fits(room: int | None, need: int, running: Iterable[tuple[int, int]]) -> bool:
    """Whether work that needs ``need`` bytes fits beside what runs.

    ``room`` is what is left now, None for unknown. ``running`` has for each piece of work that
    runs what it will need in all and what it has by now, in bytes: what it has not taken yet
    is not for others. When nothing runs, anything may start, or nothing would ever.
    """
    pending = [max(0, whole - taken) for whole, taken in running]
    return room is None or not pending or room - sum(pending) >= need

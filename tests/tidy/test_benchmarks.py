"""BENCHMARKS.md tells of every benchmark, with its goal."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def test_every_benchmark_is_in_the_page(root: Path) -> None:
    code = (
        "from bench.__main__ import registry\n"
        "for b in registry().values():\n"
        "    print(b.name, f'{b.goal} s' if b.unit == 'value' else b.goal, sep='|')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root / "tests",
        capture_output=True,
        text=True,
        check=True,
    )
    known = dict(line.split("|") for line in done.stdout.splitlines())
    page = (root / "BENCHMARKS.md").read_text(encoding="utf-8")
    figure = r"[0-9.]+(?: s)?"
    rows = re.findall(rf"^\| `([a-z-]+)` \| .* \| ({figure}) \| {figure}\*? \|$", page, re.M)
    assert dict(rows) == known

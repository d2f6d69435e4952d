"""What CODEGEN can tell about itself: a time trace, and LLVM's optimisation remarks.

The trace is JSON in Chrome's trace event format (complete events, microseconds), which
chrome://tracing and Perfetto open. Remarks are what LLVM prints on stderr for
``-pass-remarks``: ``remark: FILE:LINE:COLUMN: text``, written as a YAML list.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

_PASSES = "inline|unroll|loop|licm|gvn|slp|tailcallelim|memory|transform-warning"
REMARK_OPTIONS = tuple(f"-pass-remarks{kind}={_PASSES}" for kind in ("", "-missed", "-analysis"))
_REMARK = r"remark: (?:(?P<file>[^\n]*?):(?P<line>\d+):(?P<column>\d+): )?(?P<text>[^\n]*)"


class Recorder:
    """Collects the phases of one run."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        self._events: list[dict[str, object]] = []

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Records how long the block takes."""
        start = time.perf_counter()
        try:
            yield
        finally:
            end = time.perf_counter()
            self._events.append(
                {
                    "name": name,
                    "ph": "X",
                    "pid": 1,
                    "tid": 1,
                    "ts": round((start - self._begun) * 1e6),
                    "dur": round((end - start) * 1e6),
                }
            )

    def to_json(self) -> str:
        """The trace, in the order in which phases began."""
        events = sorted(self._events, key=lambda e: (int(str(e["ts"])), -int(str(e["dur"]))))
        return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, indent=1) + "\n"


def own_stderr() -> str:
    """What this process has written to stderr, where that is a file (see ``isolate.py``)."""
    size = os.fstat(2).st_size
    return os.pread(2, size, 0).decode("utf-8", "replace")


def remarks_yaml(stderr: str) -> str:
    """LLVM's remarks as YAML: file, line, column and text, sorted, without repeats."""
    found = set()
    for line in stderr.splitlines():
        if match := re.fullmatch(_REMARK, line):
            file = match["file"] or ""
            if file == "<unknown>":
                file = ""
            found.add((file, int(match["line"] or 0), int(match["column"] or 0), match["text"]))
    lines = []
    for file, line_number, column, text in sorted(found):
        lines.append(f"- text: {json.dumps(text, ensure_ascii=False)}")
        if file:
            lines.append(f"  file: {json.dumps(file.removeprefix('./'), ensure_ascii=False)}")
            lines.append(f"  line: {line_number}\n  column: {column}")
    return "\n".join(lines) + "\n" if lines else "[]\n"

"""Keeps a folder of cached files small."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress

_HOUR = 3600


def keep_newest(folder: str, name: str, number: int) -> None:
    """Removes files whose names the expression ``name`` matches, all but the ``number`` that
    were written last, and their temporary files that a killed process left an hour ago.

    Other processes may do the same, or read and write these files, at the same time: a reader
    has the file open or takes it as missing. Raises ``OSError`` when the folder cannot be read.
    """
    entries, oldest = [], time.time() - _HOUR
    with os.scandir(folder) as items:
        for item in items:
            left = re.fullmatch(r"\.(.+)\.\d+\.tmp", item.name)
            if not re.fullmatch(name, left[1] if left else item.name):
                continue
            with suppress(OSError):
                written = item.stat(follow_symlinks=False).st_mtime
                if not left:
                    entries.append((written, item.path))
                elif written < oldest:
                    os.unlink(item.path)
    for _, path in sorted(entries, reverse=True)[number:]:
        with suppress(OSError):
            os.unlink(path)

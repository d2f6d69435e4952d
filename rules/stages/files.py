"""Stages as files: one for each, with the source place of each line in a comment."""

from __future__ import annotations

import json
import os
from typing import Any

from fatcrate.rules.stages.model import Listing, text_of
from fatcrate.toolchain import atomic

#: Stage -> file name; numbered like those of ``fatcrate build --save-temps``.
NAMES = {
    "source": "source.rs",
    "mir": "0.mir",
    "compiled": "1-compiled.ll",
    "linked": "2-linked.ll",
    "optimised": "3-optimised.ll",
    "ptx": "4.ptx",
    "sass": "6.sass",
}
#: The same as ``--json`` prints.
TABLE = "stages.json"

#: Comments start in this column where the code leaves it free.
_COLUMN = 60


def write(folder: str, listings: list[Listing], document: dict[str, Any]) -> list[str]:
    """Writes the files; returns their paths."""
    os.makedirs(folder, exist_ok=True)
    made = []
    for listing in listings:
        made.append(os.path.join(folder, NAMES[listing.stage]))
        atomic.write_text(made[-1], annotated(listing))
    made.append(os.path.join(folder, TABLE))
    atomic.write_text(made[-1], json.dumps(document, indent=1) + "\n")
    return made


def annotated(listing: Listing) -> str:
    """A listing as text. Each line of it stays one line."""
    mark = ";" if NAMES[listing.stage].endswith(".ll") else "//"
    lines = []
    for line in listing.lines:
        where = f"{mark} {text_of(line.chain)}" if line.chain else ""
        lines.append(f"{line.text:<{_COLUMN}}  {where}".rstrip() if where else line.text)
    return "\n".join(lines) + "\n"

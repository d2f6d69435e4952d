"""What every stage is read into: lines of text, each with the source places it comes from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

#: In the order of the pipeline. `source` is what the others are tied to.
STAGES = ("source", "mir", "compiled", "linked", "optimised", "ptx", "sass")


@dataclass(frozen=True, order=True)
class Place:
    """A place in a source file; ``file`` as the debug information names it."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")


#: The place of the code itself, then of the calls that it was inlined at, outwards.
Chain = tuple[Place, ...]

_PLACE = r"[^\n]+?:\d+:\d+"
_CHAIN = re.compile(rf"{_PLACE}(?: in {_PLACE})*")
_LINK = re.compile(r"(.+?):(\d+):(\d+)(?: in |$)")


def parse_chain(text: str) -> Chain:
    """Reads ``slices.rs:9:10 in reduce.rs:38:47``; () for text of another form."""
    if not _CHAIN.fullmatch(text):
        return ()
    return tuple(Place(m[1], int(m[2]), int(m[3])) for m in _LINK.finditer(text))


def text_of(chain: Chain) -> str:
    """The inverse of :func:`parse_chain`."""
    return " in ".join(map(str, chain))


@dataclass
class Line:
    """A line of a stage. Lines that are no instruction (labels, declarations) give structure;
    in a view by source line those without a place go where the next instruction goes."""

    text: str
    chain: Chain = ()
    instruction: bool = True


@dataclass
class Listing:
    """One stage of one kernel."""

    stage: str
    lines: list[Line] = field(default_factory=list)

    def add(self, text: str, chain: Chain = (), *, instruction: bool = True) -> None:
        """Appends a line."""
        self.lines.append(Line(text, chain, instruction))

    def places(self) -> set[Place]:
        """Every place of every chain, without columns."""
        return {Place(p.file, p.line) for line in self.lines for p in line.chain}

    def to_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return {
            "stage": self.stage,
            "lines": [
                {
                    "number": number,
                    "text": line.text,
                    "places": [
                        {"file": p.file, "line": p.line, "column": p.column} for p in line.chain
                    ],
                }
                for number, line in enumerate(self.lines, 1)
            ],
        }


def own_place(chain: Chain, is_own: Callable[[str], bool]) -> Place | None:
    """The innermost place in the project's own files: where a user looks for the code."""
    return next((Place(p.file, p.line) for p in chain if is_own(p.file)), None)


def by_place(
    lines: Iterable[Line], is_own: Callable[[str], bool]
) -> dict[Place | None, list[tuple[int, str]]]:
    """Own place -> (number, text) of the lines tied to it, in order; blank lines left out.

    Structure goes where the next instruction goes, the end of a body where the last went.
    """
    found: dict[Place | None, list[tuple[int, str]]] = {}
    waiting: list[tuple[int, str]] = []
    at: Place | None = None
    for number, line in enumerate(lines, 1):
        if not line.text.strip():
            continue
        if line.text.strip() == "}" and found and not waiting:
            found[at].append((number, line.text))
            continue
        if not line.instruction and not line.chain:
            waiting.append((number, line.text))
            continue
        at = own_place(line.chain, is_own)
        found.setdefault(at, []).extend([*waiting, (number, line.text)])
        waiting = []
    if waiting:
        found.setdefault(at, []).extend(waiting)
    return found

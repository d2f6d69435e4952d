"""Stages side by side: a row for each source line, with what each stage made of it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fatcrate.rules.stages.model import Listing, Place, by_place

#: The narrowest column that code can be read in, in characters.
NARROWEST = 38
#: Which stages are shown first where there is no room for all.
_PREFERRED = ("source", "sass", "ptx", "optimised", "mir", "linked", "compiled")
#: Source lines between two that have code are shown up to this number.
_GAP = 3

_SPACES = re.compile(r"\s{2,}|\t")

_RULE = " │ "
_BOLD, _DIM, _OFF = "\x1b[1m", "\x1b[2m", "\x1b[0m"


@dataclass(frozen=True)
class Source:
    """The project's own source files: whether a file is one, and its lines (from 1)."""

    is_own: Callable[[str], bool]
    lines: Callable[[str], Sequence[str]]


def fitting(stages: Sequence[str], width: int) -> list[str]:
    """Those of ``stages`` that there is room for, in their order; at least two."""
    room = max(2, (width + len(_RULE)) // (NARROWEST + len(_RULE)))
    chosen = sorted(stages, key=_PREFERRED.index)[:room]
    return [stage for stage in stages if stage in chosen]


def shown_lines(places: set[Place], main: str) -> dict[str, list[int]]:
    """File -> lines to show, ``main`` first; 0 stands for lines that are left out."""
    files: dict[str, list[int]] = {}
    for place in sorted(places, key=lambda p: (p.file != main, p)):
        lines = files.setdefault(place.file, [])
        if lines and place.line - lines[-1] - 1 <= _GAP:
            lines.extend(range(lines[-1] + 1, place.line))
        elif lines:
            lines.append(0)
        lines.append(place.line)
    return files


def side_by_side(
    listings: Sequence[Listing], source: Source, main: str, width: int, *, colours: bool
) -> Iterator[str]:
    """Lines of the view. ``main`` is the file of the kernel; ``width`` in characters.

    The column of stage `source` is always the first; the others show the lines of their
    listings with numbers, so that the order of execution can be seen.
    """
    stages = [each for each in listings if each.stage != "source"]
    tied = [by_place(each.lines, source.is_own) for each in stages]
    places = {place for each in tied for place in each if place is not None}
    column = (width - len(_RULE) * len(stages)) // (len(stages) + 1)
    bold, dim, off = (_BOLD, _DIM, _OFF) if colours else ("", "", "")
    digits = [len(str(len(each.lines))) for each in stages]

    def rows(place: Place | None, left: list[str]) -> Iterator[str]:
        cells = [left]
        for each, number in zip(tied, digits, strict=True):
            cells.append(_cell(each.get(place, []), number, column))
        for row in range(max(map(len, cells))):
            parts = [cell[row] if row < len(cell) else "" for cell in cells]
            yield _RULE.join(part.ljust(column) for part in parts).rstrip()

    head = ["source", *(each.stage for each in stages)]
    yield bold + _RULE.join(name.ljust(column) for name in head).rstrip() + off
    yield "─┼─".join("─" * column for _ in head)
    for file, numbers in shown_lines(places, main).items():
        yield f"{bold}{file}{off}"
        text = source.lines(file)
        last = len(str(max(numbers)))
        for number in numbers:
            if number == 0:
                yield f"{dim}{'⋮'.rjust(last)}{off}"
                continue
            line = text[number - 1].rstrip() if number <= len(text) else ""
            left = _wrapped(f"{number:>{last}}  ", line.expandtabs(4), column)
            yield from rows(Place(file, number), left)
    if any(None in each for each in tied):
        yield f"{bold}of no source line of the project{off}"
        yield from rows(None, [""])


def _cell(lines: Sequence[tuple[int, str]], digits: int, column: int) -> list[str]:
    found: list[str] = []
    for number, text in lines:
        code = text.lstrip()
        indent = " " * min(len(text) - len(code), 2)
        found += _wrapped(f"{number:>{digits}} ", indent + _SPACES.sub(" ", code), column)
    return found


def _wrapped(prefix: str, text: str, column: int) -> list[str]:
    """A line of code in a column; what does not fit goes on below, further in."""
    code = text.lstrip()
    start = prefix + " " * min(len(text) - len(code), column // 3)
    return textwrap.wrap(
        code,
        column,
        initial_indent=start,
        subsequent_indent=" " * len(start) + "  ",
        break_on_hyphens=False,
        drop_whitespace=True,
    ) or [prefix.rstrip()]

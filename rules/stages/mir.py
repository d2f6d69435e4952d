"""Reads rustc's MIR with places (``-Zmir-include-spans=on``), as rustc 1.96 writes it.

A statement ends in ``// scope N at FILE:L:C: L:C``; scopes nest, and one that came from
inlining tells its call: ``scope 3 (inlined name) { // at FILE:L:C: L:C``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from fatcrate.rules.stages.model import Chain, Line, Listing, Place

_COMMENT = re.compile(r"\s*// (?:return place )?(?:in )?scope (\d+) at (.+?):(\d+):(\d+): \d+:\d+$")
_SCOPE = re.compile(
    r"^(\s*)scope (\d+)(?: \(inlined .*\))? \{(?:\s*// at (.+?):(\d+):(\d+): \d+:\d+)?$"
)


@dataclass
class Function:
    """One function of a crate's MIR."""

    header: str
    lines: list[Line] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.header.removeprefix("fn ").split("(", 1)[0]

    def bodies(self) -> set[Place]:
        """Places of its statements in its own body, whatever was inlined there."""
        return {
            Place(line.chain[-1].file, line.chain[-1].line)
            for line in self.lines
            if line.instruction and line.chain
        }


def functions(text: str) -> Iterator[Function]:
    """The functions in a crate's MIR."""
    block: list[str] | None = None
    for line in text.splitlines():
        if line.startswith("fn "):
            block = []
        if block is not None:
            block.append(line)
            if line == "}":
                yield _function(block)
                block = None


def _function(block: list[str]) -> Function:
    made = Function(block[0])
    #: scope -> (the scope around it, the place it was inlined at)
    scopes: dict[int, tuple[int, Place | None]] = {}
    stack: list[tuple[int, int]] = []  # (indentation, scope)
    body = False
    for line in block:
        if line.lstrip().startswith("//"):
            continue
        if match := _SCOPE.match(line):
            indent, scope = len(match[1]), int(match[2])
            while stack and stack[-1][0] >= indent:
                stack.pop()
            call = Place(match[3], int(match[4]), int(match[5])) if match[3] else None
            around = stack[-1][1] if stack else 0
            scopes[scope] = (around, call)
            stack.append((indent, scope))
            where = _outwards(call, around, scopes) if call else ()
            made.lines.append(Line(line.split(" // at ")[0].rstrip(), where, False))
            continue
        body = body or re.match(r"\s+bb\d+", line) is not None
        chain: Chain = ()
        if match := _COMMENT.search(line):
            line = line[: match.start()]
            inner = Place(match[2], int(match[3]), int(match[4]))
            chain = _outwards(inner, int(match[1]), scopes)
        made.lines.append(Line(line.rstrip(), chain, body and bool(chain)))
    return made


def _outwards(inner: Place, scope: int, scopes: dict[int, tuple[int, Place | None]]) -> Chain:
    chain = [inner]
    while scope in scopes:
        scope, call = scopes[scope]
        if call is not None:
            chain.append(call)
    return tuple(chain)


def listing(texts: list[str], kernel: str, used: set[Place]) -> Listing:
    """The functions of which the kernel has code: those with statements at places in ``used``.

    ``texts`` is the MIR of each crate, the kernel's own first. MIR is generic: one function
    stands for all its instances.
    """
    found = [f for text in texts for f in functions(text) if f.bodies() & used]
    found.sort(key=lambda f: f.name.rpartition("::")[2] != kernel)
    made = Listing("mir")
    for function in found:
        if made.lines:
            made.add("", instruction=False)
        made.lines += function.lines
    return made

"""Who refers to whom in a module, read from its textual IR."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fatcrate.lto import runtime
from fatcrate.lto.engine import Module

_GLOBAL = re.compile(r'@(?:"((?:[^"\\]|\\[0-9A-Fa-f]{2})*)"|([-a-zA-Z$._][-a-zA-Z$._0-9]*|\d+))')

Graph = dict[str, list[str]]


_CONSTANT = re.compile(r'\bc"[^"\n]*"')
_CODE_LIKE = re.compile(r"[ @!(%]")


def inert(text: str) -> str:
    """Textual IR whose string constants hold nothing that a search for code could find.

    A user's ``b"@name !dbg !1"`` would be edited with the code. The characters are written as
    LLVM's escapes, so that the module is the same.
    """
    return _CONSTANT.sub(lambda m: _CODE_LIKE.sub(lambda c: f"\\{ord(c[0]):02X}", m[0]), text)


def names(text: str) -> Iterator[str]:
    """The global names in a piece of textual IR, in order."""
    for match in _GLOBAL.finditer(text):
        if match[1] is None:
            yield match[2]
        else:
            yield runtime.unescape(match[1]).decode("utf-8", "replace")


def graph(module: Module) -> Graph:
    """Definition -> names it refers to, in order of appearance; itself left out."""
    edges: Graph = {}
    for value in (*module.functions(), *module.variables()):
        if value.is_declaration or value.name.startswith("llvm."):
            continue
        name = value.name
        edges[name] = [n for n in dict.fromkeys(names(inert(value.text()))) if n != name]
    return edges


def reachable(edges: Graph, roots: Iterable[str]) -> list[str]:
    """Everything that the roots need, the roots included, in depth-first order."""
    seen: dict[str, None] = {}
    stack = list(roots)[::-1]
    while stack:
        name = stack.pop()
        if name in seen:
            continue
        seen[name] = None
        stack.extend(reversed(edges.get(name, [])))
    return list(seen)


def chain(edges: Graph, roots: Iterable[str], wanted: str) -> list[str]:
    """The shortest chain of references from a root to ``wanted``; empty when there is none."""
    came: dict[str, str] = dict.fromkeys(roots, "")
    queue = list(came)
    for name in queue:
        if name == wanted:
            path = [name]
            while came[path[-1]]:
                path.append(came[path[-1]])
            return path[::-1]
        for target in edges.get(name, []):
            if target not in came:
                came[target] = name
                queue.append(target)
    return []


def referrers(edges: Graph, wanted: str) -> list[str]:
    """Definitions that refer to ``wanted``, sorted."""
    return sorted(name for name, targets in edges.items() if wanted in targets)

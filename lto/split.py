"""Code generation of one optimised module in parts, side by side.

The module's textual IR is divided into modules that hold some of its functions each; their PTX
is put together again. Which parts there are follows from the module alone, so the result does
not depend on how many are generated at a time.

Parts may call each other's functions. Whatever else two functions share (a variable, a function's
address) keeps them in one part. A function that is called from another part is no longer
internal while code is generated, since LLVM chooses the alignment of parameters freely where it
sees every caller. Modules with debug information, whose tables are of the whole module, are left
as they are; so are small ones.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from fatcrate.lto import symbols

#: Lines of IR below which a part costs more than it saves.
PART_LINES = 3000
#: Two parts keep two processors busy; more of them are for large modules, since each costs time.
_LARGE_PART, _MOST_PARTS = 3, 8  # times PART_LINES; parts

_NAME = re.compile(r'@("(?:[^"\\]|\\[0-9A-Fa-f]{2})*"|[-a-zA-Z$._][-a-zA-Z$._0-9]*)(\(?)')
_UNFIT = re.compile(
    r"@\d+ =|@llvm\.|module asm|\$\S+ = comdat|@\S+ = .*\b(?:alias|ifunc)\b|![^\n]*@|uselist"
    r"|!llvm\.dbg\.cu\b"
)
_EXTERNAL = re.compile(r"@\S+ = (?:external|extern_weak) ")
_LOCAL = re.compile(r"^define (?:internal|private) ")
#: The head of a function that may be declared elsewhere: what stands behind its parameters.
_HEAD = re.compile(
    r"define (.*\))(?: (?:local_)?unnamed_addr)?((?: #\d+)?(?: align \d+)?)(?: !\w+ !\d+)* \{"
)


class Whole(Exception):
    """The module cannot be divided."""


class _Function:
    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        self.lines = text.count("\n")
        self.calls: set[str] = set()
        self.refers: set[str] = set()  # otherwise than by calls
        for match in _NAME.finditer(text, text.index("{")):
            (self.calls if match[2] else self.refers).add(match[1])

    def declaration(self) -> str:
        """The function as another part sees it; "" when it has what a declaration cannot have."""
        head = self.text[: self.text.index("\n")]
        match = _HEAD.fullmatch(_LOCAL.sub("define ", head))
        return f"declare {match[1]}{match[2]}\n" if match else ""


class _Module:
    """A module's text by kind of entity."""

    def __init__(self, text: str) -> None:
        self.frame: list[str] = []  # of every part: target, types
        self.tail: list[str] = []  # of every part: attributes, metadata
        self.functions: dict[str, _Function] = {}
        self.variables: dict[str, str] = {}
        self.declared: dict[str, str] = {}
        for piece in text.split("\n}\n"):
            start = 0 if piece.startswith("define ") else piece.find("\ndefine ") + 1
            lines = piece if not start and not piece.startswith("define ") else piece[:start]
            for line in lines.splitlines(keepends=True):
                self._add(line)
            if len(lines) < len(piece):
                self._add_function(piece[start:] + "\n}\n")

    def _add_function(self, text: str) -> None:
        if "blockaddress(" in text:
            raise Whole
        name = _NAME.search(text)
        assert name is not None
        self.functions[name[1]] = _Function(name[1], text)

    def _add(self, line: str) -> None:
        """A line outside functions."""
        if _UNFIT.match(line):
            raise Whole
        if line.startswith(("attributes ", "!")):
            self.tail.append(line)
        elif line.startswith(("target ", "%", "source_filename ")):
            self.frame.append(line)
        elif line.startswith(("@", "declare ")):
            name = _NAME.search(line)
            if name is None:
                raise Whole
            outside = line.startswith("declare ") or _EXTERNAL.match(line)
            (self.declared if outside else self.variables)[name[1]] = line
        elif line.strip() and not line.startswith(";"):
            raise Whole


def split(text: str, part_lines: int = PART_LINES) -> list[str]:
    """The parts' textual IR, or the text alone when the module is small or cannot be divided."""
    lines = text.count("\n")
    if lines < 2 * part_lines:
        return [text]
    try:
        module = _Module(text)
    except Whole:
        return [text]
    groups, rest = _groups(module)
    if len(groups) < 2:
        return [text]
    count = min(max(lines // (_LARGE_PART * part_lines), 2), _MOST_PARTS, len(groups))
    parts = _balanced(module, groups, count)
    crossing = {
        name
        for part in parts
        for member in part
        for name in module.functions[member].calls
        if name in module.functions and name not in part
    }
    return [_part(module, names, crossing, () if n else rest) for n, names in enumerate(parts)]


def _groups(module: _Module) -> tuple[list[set[str]], set[str]]:
    """Sets of functions that must stay together, and the variables that no function needs."""
    leader = {name: name for name in (*module.functions, *module.variables)}

    def find(name: str) -> str:
        while leader[name] != name:
            leader[name] = name = leader[leader[name]]
        return name

    def join(name: str, others: Iterable[str]) -> None:
        for other in others:
            if other in leader:
                leader[find(other)] = find(name)

    for name, text in module.variables.items():
        join(name, (m[1] for m in _NAME.finditer(text)))
    for name, function in module.functions.items():
        join(name, function.refers)
        join(name, (called for called in function.calls if not _may_cross(module, called)))
    groups: dict[str, set[str]] = {}
    for name in module.functions:
        groups.setdefault(find(name), set()).add(name)
    return list(groups.values()), {v for v in module.variables if find(v) not in groups}


def _may_cross(module: _Module, name: str) -> bool:
    """Whether a function may be called from another part, or is in none."""
    function = module.functions.get(name)
    return function is None or (symbols.is_ptx_name(name) and bool(function.declaration()))


def _balanced(module: _Module, groups: list[set[str]], count: int) -> list[set[str]]:
    """The groups in ``count`` sets of about as many lines, largest groups first."""
    weights = [sum(module.functions[name].lines for name in group) for group in groups]
    order = sorted(range(len(groups)), key=lambda place: (-weights[place], place))
    parts: list[set[str]] = [set() for _ in range(count)]
    filled = [0] * count
    for place in order:
        least = min(range(count), key=lambda part: (filled[part], part))
        parts[least] |= groups[place]
        filled[least] += weights[place]
    return parts


def _part(module: _Module, names: set[str], crossing: set[str], more: Collection[str]) -> str:
    """One part: its functions, and of everything else ``more`` and what they need."""
    own = [function for name, function in module.functions.items() if name in names]
    needed = {name for function in own for name in (*function.calls, *function.refers)} | set(more)
    pending = list(needed)
    while pending:
        text = module.variables.get(pending.pop(), "")
        new = {m[1] for m in _NAME.finditer(text)} - needed
        needed |= new
        pending += new
    made = list(module.frame)
    made += [text for name, text in module.variables.items() if name in needed]
    made += [text for name, text in module.declared.items() if name in needed]
    for name, function in module.functions.items():
        if name in names:
            made.append(_LOCAL.sub("define ", function.text) if name in crossing else function.text)
        elif name in needed:
            made.append(function.declaration())
    return "".join(made + module.tail)


_HEADER_END = re.compile(r"\n\.address_size \d+\n")
_DECLARATIONS = (re.compile(r"\n\.func\b[^{;]*;(?=\n)"), re.compile(r"\n\.extern \.[^{;]*;(?=\n)"))
_PTX_FUNCTION = re.compile(r"\.func\s+(?:\([^)]*\)\s*)?([\w$%]+)")
_VISIBLE = re.compile(r"\n\.visible (\.func\s+(?:\([^)]*\)\s*)?([\w$%]+))")


def join(texts: list[str]) -> str:
    """One PTX text of those that LLVM generated for the parts: declarations first, each once."""
    ends = [match.end() for match in map(_HEADER_END.search, texts) if match]
    assert len(ends) == len(texts), "not PTX"
    bodies = [text[end:] for text, end in zip(texts, ends, strict=True)]
    found = [m[0] for body in bodies for each in _DECLARATIONS for m in each.finditer(body)]
    elsewhere = {_function(text) for text in found if text.startswith("\n.extern .func")}
    crossing = elsewhere & {m[2] for body in bodies for m in _VISIBLE.finditer(body)}
    declared = {
        text.replace("\n.extern ", "\n", 1) if _function(text) in crossing else text: None
        for text in found
    }
    for number, body in enumerate(bodies):
        for each in _DECLARATIONS:
            body = each.sub("", body)
        bodies[number] = _VISIBLE.sub(lambda m: "\n" + m[1] if m[2] in crossing else m[0], body)
    return "".join([texts[0][: ends[0]], *declared, "\n", *bodies])


def _function(declaration: str) -> str:
    """The name of the function that a declaration is of; "" for a variable."""
    match = _PTX_FUNCTION.search(declaration)
    return match[1] if match else ""

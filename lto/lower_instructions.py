"""Instructions that NVPTX cannot select, as calls of functions; see ``lower.py``."""

from __future__ import annotations

import re

_DIVISIONS = {
    "sdiv": "__divti3",
    "udiv": "__udivti3",
    "srem": "__modti3",
    "urem": "__umodti3",
}
_TO_FLOAT = {
    ("sitofp", "float"): "__floattisf",
    ("sitofp", "double"): "__floattidf",
    ("uitofp", "float"): "__floatuntisf",
    ("uitofp", "double"): "__floatuntidf",
}
_FROM_FLOAT = {
    ("fptosi", "float"): "__fixsfti",
    ("fptosi", "double"): "__fixdfti",
    ("fptoui", "float"): "__fixunssfti",
    ("fptoui", "double"): "__fixunsdfti",
}
_FREM = {"float": "__nv_fmodf", "double": "__nv_fmod"}
_RESULT = r"^(?P<head>\s*(?P<result>%\S+) = )"
_TAIL = r"(?P<tail>(?:, ![\w.]+ !\d+)*)$"
_DIVISION = re.compile(
    _RESULT + r"(?P<op>[su](?:div|rem))(?: exact)? i128 (?P<x>\S+), (?P<y>[^,\s]+)" + _TAIL,
    re.MULTILINE,
)
_INT_TO_FLOAT = re.compile(
    _RESULT
    + r"(?P<op>[su]itofp)(?: nneg)? i128 (?P<x>\S+) to (?P<type>half|bfloat|float|double)"
    + _TAIL,
    re.MULTILINE,
)
_FLOAT_TO_INT = re.compile(
    _RESULT + r"(?P<op>fpto[su]i) (?P<type>half|bfloat|float|double) (?P<x>\S+) to i128" + _TAIL,
    re.MULTILINE,
)
_REMAINDER = re.compile(
    _RESULT
    + r"frem (?:[a-z]+ )*?(?P<type>half|bfloat|float|double|<\d+ x (?:half|bfloat|float|double)>)"
    + r" (?P<x><[^>]*>|[^,\s]+), (?P<y><[^>]*>|[^,\s]+)"
    + _TAIL,
    re.MULTILINE,
)


class Rewriter:
    """Collects the declarations that the replacements need."""

    def __init__(self) -> None:
        self.declarations: dict[str, str] = {}

    def call(self, function: str, result: str, operands: list[tuple[str, str]]) -> str:
        types = ", ".join(kind for kind, _ in operands)
        self.declarations[function] = f"declare {result} @{function}({types})"
        values = ", ".join(f"{kind} {value}" for kind, value in operands)
        return f"call {result} @{function}({values})"

    def division(self, m: re.Match[str]) -> str:
        call = self.call(_DIVISIONS[m["op"]], "i128", [("i128", m["x"]), ("i128", m["y"])])
        return f"{m['head']}{call}{m['tail']}"

    def to_float(self, m: re.Match[str]) -> str:
        kind = m["type"]
        wide = "float" if kind in ("half", "bfloat") else kind
        call = self.call(_TO_FLOAT[m["op"], wide], wide, [("i128", m["x"])])
        if wide == kind:
            return f"{m['head']}{call}{m['tail']}"
        temporary = _temporary(m["result"], "w")
        return (
            f"  {temporary} = {call}{m['tail']}\n"
            f"{m['head']}fptrunc {wide} {temporary} to {kind}{m['tail']}"
        )

    def from_float(self, m: re.Match[str]) -> str:
        kind, value, lines = m["type"], m["x"], ""
        if kind in ("half", "bfloat"):
            value = _temporary(m["result"], "w")
            lines = f"  {value} = fpext {kind} {m['x']} to float{m['tail']}\n"
            kind = "float"
        call = self.call(_FROM_FLOAT[m["op"], kind], "i128", [(kind, value)])
        return f"{lines}{m['head']}{call}{m['tail']}"

    def remainder(self, m: re.Match[str]) -> str:
        if not m["type"].startswith("<"):
            lines, value = self._scalar_remainder(m["type"], m["x"], m["y"], m["result"])
            last = f"{m['head']}{value}{m['tail']}"
            return "".join(f"  {line}{m['tail']}\n" for line in lines) + last
        count, element = m["type"][1:-1].split(" x ")
        lines, whole = [], "poison"
        for index in range(int(count)):
            names = [_temporary(m["result"], f"{part}{index}") for part in "xyr"]
            for name, operand in zip(names, (m["x"], m["y"]), strict=False):
                lines.append(f"{name} = extractelement {m['type']} {operand}, i32 {index}")
            more, value = self._scalar_remainder(element, names[0], names[1], names[2])
            lines += [*more, f"{names[2]} = {value}"]
            insert = f"insertelement {m['type']} {whole}, {element} {names[2]}, i32 {index}"
            whole = _temporary(m["result"], f"v{index}")
            lines.append(f"{whole} = {insert}")
        lines[-1] = lines[-1].split(" = ", 1)[1]
        body = "".join(f"  {line}{m['tail']}\n" for line in lines[:-1])
        return f"{body}{m['head']}{lines[-1]}{m['tail']}"

    def _scalar_remainder(self, kind: str, x: str, y: str, result: str) -> tuple[list[str], str]:
        """Instructions before, and the last instruction without its result."""
        if kind in _FREM:
            return [], self.call(_FREM[kind], kind, [(kind, x), (kind, y)])
        wide = [_temporary(result, part) for part in ("wx", "wy", "wr")]
        lines = [
            f"{wide[0]} = fpext {kind} {x} to float",
            f"{wide[1]} = fpext {kind} {y} to float",
            f"{wide[2]} = " + self.call(_FREM["float"], "float", [("float", w) for w in wide[:2]]),
        ]
        return lines, f"fptrunc float {wide[2]} to {kind}"


def _temporary(result: str, part: str) -> str:
    """A fresh local name that belongs to one instruction."""
    return "%fc." + re.sub(r"\W", "_", result[1:]) + "." + part


def rewrite(text: str) -> tuple[str, dict[str, str]]:
    """The module with calls in place of instructions, and declarations of what is called."""
    rewriter = Rewriter()
    if " frem " in text:
        text = _REMAINDER.sub(rewriter.remainder, text)
    if " i128 " in text:
        text = _DIVISION.sub(rewriter.division, text)
        text = _INT_TO_FLOAT.sub(rewriter.to_float, text)
        text = _FLOAT_TO_INT.sub(rewriter.from_float, text)
    return text, rewriter.declarations

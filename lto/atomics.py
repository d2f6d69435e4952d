"""Gives atomic operations what LLVM's NVPTX back end leaves out, on optimised textual IR.

* ``atomicrmw`` comes out as a relaxed ``atom``, whatever its ordering. It gets fences, in the
  places where LLVM itself sets them for ``cmpxchg``.
* PTX has no atomics on local memory: ptxas refuses ``atom.local``, and a generic address in
  local memory is undefined (PTX ISA, "atom", "ld", "st"). What an ``alloca`` makes belongs to
  its thread, so plain accesses do. Where the memory is not known, ``isspacep.local`` asks, as
  NVIDIA's libcu++ does; kernels' parameters and statics are known to lie elsewhere.

Each such operation becomes a call of a function that is inlined at once, at every level.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from fatcrate.lto import layout

_MARK = re.compile(r" (?:atomicrmw|cmpxchg|load atomic|store atomic) ")
_FUNCTION = re.compile(r"^define [^\n]*\{\n.*?^\}$", re.MULTILINE | re.DOTALL)
_LOCAL = r'%(?:"[^"]*"|[-\w$.]+)'
_ASSIGNED = re.compile(rf"^  ({_LOCAL}) = ([^\n]*)$", re.MULTILINE)
_OPERATION = re.compile(
    rf"^  (?:(?P<result>{_LOCAL}) = )?(?P<kind>atomicrmw|cmpxchg|load atomic|store atomic) "
    r"(?P<rest>[^\n]*)$",
    re.MULTILINE,
)
_TYPE_AND_VALUE = r"(?P<type><[^>]*>|\w+) (?P<value>.+?)"
_POINTER = r"ptr (?:addrspace\((?P<space>\d+)\) )?(?P<pointer>.+?)"
_ORDER = r'(?P<scope> syncscope\("[^"]*"\))? (?P<order>\w+)'
#: The operands of each kind, at commas.
_FORMS = {
    "atomicrmw": (rf"(?P<flags>(?:volatile )?)(?P<op>\w+) {_POINTER}", _TYPE_AND_VALUE + _ORDER),
    "cmpxchg": (
        rf"(?P<flags>(?:weak )?(?:volatile )?){_POINTER}",
        _TYPE_AND_VALUE,
        rf"(?:<[^>]*>|\w+) (?P<new>.+?){_ORDER} (?P<failure>\w+)",
    ),
    "load atomic": (r"(?P<flags>(?:volatile )?)(?P<type>.+)", _POINTER + _ORDER),
    "store atomic": (rf"(?P<flags>(?:volatile )?){_TYPE_AND_VALUE}", _POINTER + _ORDER),
}

#: What an ``atomicrmw`` stores, of ``%o`` (the old value) and ``%v``.
_COMPUTED = {
    "xchg": "",
    **{op: f"%n = {op} TYPE %o, %v" for op in ("add", "sub", "and", "or", "xor", "fadd", "fsub")},
    "nand": "%a = and TYPE %o, %v\n  %n = xor TYPE %a, -1",
    **{
        op: f"%c = icmp {test} TYPE %o, %v\n  %n = select i1 %c, TYPE %o, TYPE %v"
        for op, test in {"max": "sgt", "min": "slt", "umax": "ugt", "umin": "ult"}.items()
    },
}
_FENCES = {  # ordering -> before and after
    "acquire": ("", "acquire"),
    "release": ("release", ""),
    "acq_rel": ("release", "acquire"),
    "seq_cst": ("seq_cst", "acquire"),
}


class _Operation(NamedTuple):
    """One atomic operation, without its operands and result."""

    kind: str
    flags: str
    op: str
    type: str
    scope: str
    orders: str
    space: str
    align: str

    def name(self, where: str) -> str:
        """A name for the function that does it in that memory."""
        return "fc_atomic_" + re.sub(r"\W+", "_", " ".join((*self, where))).strip("_")

    @property
    def parameters(self) -> str:
        values = {"load atomic": "", "cmpxchg": f", {self.type} %v, {self.type} %w"}
        return f"ptr{self.space} %p" + values.get(self.kind, f", {self.type} %v")

    @property
    def result(self) -> str:
        return {"store atomic": "void", "cmpxchg": f"{{ {self.type}, i1 }}"}.get(
            self.kind, self.type
        )

    def plain(self) -> str | None:
        """Accesses that need not be atomic, up to a ``ret``; None for what is not known here."""
        volatile = "volatile " if "volatile" in self.flags else ""
        place = f"ptr{self.space} %p, align {self.align}"
        load = f"  %o = load {volatile}{self.type}, {place}\n"
        store = f"  store {volatile}{self.type} %n, {place}\n"
        if self.kind == "load atomic":
            return f"{load}  ret {self.type} %o\n"
        if self.kind == "store atomic":
            return f"{store.replace('%n', '%v')}  ret void\n"
        if self.kind == "cmpxchg":
            return (
                f"{load}  %c = icmp eq {self.type} %o, %v\n"
                f"  %n = select i1 %c, {self.type} %w, {self.type} %o\n{store}"
                f"  %x = insertvalue {self.result} poison, {self.type} %o, 0\n"
                f"  %y = insertvalue {self.result} %x, i1 %c, 1\n  ret {self.result} %y\n"
            )
        if self.op not in _COMPUTED:
            return None
        computed = _COMPUTED[self.op].replace("TYPE", self.type)
        made = f"  {computed}\n{store}" if computed else store.replace("%n", "%v")
        return f"{load}{made}  ret {self.type} %o\n"

    def atomic(self, pointer: str) -> str:
        """The operation itself with its fences, up to a ``ret``."""
        place, order = f"ptr{self.space} {pointer}", f"{self.scope} {self.orders}"
        align = f", align {self.align}\n"
        if self.kind == "store atomic":
            return f"  store atomic {self.flags}{self.type} %v, {place}{order}{align}  ret void\n"
        if self.kind == "load atomic":
            done = f"  %r = load atomic {self.flags}{self.type}, {place}{order}{align}"
        elif self.kind == "cmpxchg":
            values = f"{self.type} %v, {self.type} %w"
            done = f"  %r = cmpxchg {self.flags}{place}, {values}{order}{align}"
        else:
            before, after = (
                f"  fence{self.scope} {fence}\n" if fence else ""
                for fence in _FENCES.get(self.orders, ("", ""))
            )
            done = f"  %r = atomicrmw {self.flags}{self.op} {place}, {self.type} %v{self.scope}"
            done = f"{before}{done} monotonic{align}{after}"
        return f"{done}  ret {self.result} %r\n"

    def function(self, where: str) -> str | None:
        """A definition; None where the operation can stay as it is."""
        plain = self.plain()
        if where == "elsewhere" or plain is None:
            if self.kind != "atomicrmw" or self.orders not in _FENCES:
                return None
            body = self.atomic("%p")
        elif where == "own":
            body = plain
        else:
            # The assembly keeps LLVM from finding out later that it is local memory after all.
            body = (
                "  %is = call i1 @llvm.nvvm.isspacep.local(ptr %p)\n"
                "  br i1 %is, label %own, label %other\n"
                f"own:\n{plain}other:\n"
                '  %q = call ptr asm "", "=l,0"(ptr %p)\n'
                f"{self.atomic('%q')}"
            )
        head = f"define internal {self.result} @{self.name(where)}({self.parameters})"
        return f"{head} alwaysinline nounwind {{\n{body}}}\n"


class _Body:
    """A function: what its local names stand for."""

    def __init__(self, text: str) -> None:
        self.kernel = "ptx_kernel " in text[: text.index("\n")]
        self.values = dict(_ASSIGNED.findall(text))

    def memory(self, pointer: str) -> str:
        """Where a pointer leads: "own" memory (local), "elsewhere", or "unknown"."""
        found: set[str] = set()
        waiting, seen = [pointer], set()
        while waiting:
            value = waiting.pop()
            if value in seen:
                continue
            seen.add(value)
            then = self._step(value)
            if isinstance(then, str):
                found.add(then)
            else:
                waiting += then
        return found.pop() if len(found) == 1 else "unknown"

    def _step(self, value: str) -> str | list[str]:
        """Which memory a value is in, or the values that tell."""
        if not value.startswith("%"):
            return (
                "elsewhere" if "@" in value or value in ("null", "poison", "undef") else "unknown"
            )
        if value not in self.values:
            return "elsewhere" if self.kernel else "unknown"
        opcode, _, rest = self.values[value].partition(" ")
        if opcode == "alloca":
            return "own"
        if opcode == "addrspacecast":
            space = re.match(r"ptr addrspace\((\d+)\)", rest)
            return ("own" if space[1] == "5" else "elsewhere") if space else "unknown"
        if opcode == "phi":
            return [m[1].strip() for m in re.finditer(r"\[ (.+?), %[^\]]+ \]", rest)]
        if opcode in ("getelementptr", "select", "freeze"):
            given = layout.split(rest)
            parts = given[1:2] if opcode == "getelementptr" else given[opcode == "select" :]
            pointers = [re.fullmatch(r"ptr (.+)", part) for part in parts if part[0] != "!"]
            return [p[1] for p in pointers if p] if all(pointers) else "unknown"
        return "unknown"


def _read(match: re.Match[str]) -> tuple[_Operation, dict[str, str], list[str]] | None:
    """An operation, its operands, and what is attached to it."""
    parts = layout.split(match["rest"])
    forms = _FORMS[match["kind"]]
    found: dict[str, str] = {}
    for form, part in zip(forms, parts, strict=False):
        told = re.fullmatch(form, part)
        if not told:
            return None
        found.update({key: value or "" for key, value in told.groupdict().items()})
    more = parts[len(forms) :]
    if not more or not more[0].startswith("align "):
        return None
    operation = _Operation(
        match["kind"],
        found["flags"],
        found.get("op", ""),
        found["type"],
        found["scope"],
        " ".join(filter(None, (found["order"], found.get("failure")))),
        f" addrspace({found['space']})" if found["space"] else "",
        more[0].removeprefix("align "),
    )
    return operation, found, more[1:]


def rewrite(text: str) -> str | None:
    """The module with calls in place of its operations; None when nothing is to be done.

    The functions that are called are internal and ``alwaysinline``.
    """
    if not _MARK.search(text):
        return None
    functions: dict[str, str] = {}

    def body(function: re.Match[str]) -> str:
        if not _MARK.search(function[0]):
            return function[0]
        known = _Body(function[0])

        def call(match: re.Match[str]) -> str:
            read = _read(match)
            if read is None:
                return match[0]
            operation, operands, attached = read
            if operation.space:
                where = "own" if "(5)" in operation.space else "elsewhere"
            else:
                where = known.memory(operands["pointer"])
            name, made = operation.name(where), operation.function(where)
            if made is None:
                return match[0]
            functions[name] = made
            given = [f"ptr{operation.space} {operands['pointer']}"]
            given += [f"{operation.type} {operands[k]}" for k in ("value", "new") if k in operands]
            head = f"  {match['result']} = " if match["result"] else "  "
            places = "".join(f", {mark}" for mark in attached if mark.startswith("!dbg "))
            return f"{head}call {operation.result} @{name}({', '.join(given)}){places}"

        return _OPERATION.sub(call, function[0])

    made = _FUNCTION.sub(body, text)
    if not functions:
        return None
    asks = "@llvm.nvvm.isspacep.local(ptr"
    if any(asks in f for f in functions.values()) and f"declare i1 {asks}" not in made:
        made += f"\ndeclare i1 {asks})\n"
    return made + "\n" + "\n".join(functions[name] for name in sorted(functions))

"""Writes straight-line functions in LLVM's textual IR."""

from __future__ import annotations

from typing import Literal

FLOAT = "float"
DOUBLE = "double"
Wide = Literal["x86_fp80", "fp128"]

_MANGLED = {FLOAT: "f32", DOUBLE: "f64", "x86_fp80": "f80", "fp128": "f128", "i32": "i32"}
_RANK = {FLOAT: 0, DOUBLE: 1, "x86_fp80": 2, "fp128": 2}


class Body:
    """The body of one function. Values are texts such as ``%3`` whose types are remembered.

    ``wide`` is the type of C's ``long double`` on the host; libm functions of it end in ``l``.
    """

    def __init__(
        self, name: str, result: str, parameters: list[str], wide: Wide, libm_prefix: str
    ) -> None:
        self.name = name
        self.result = result
        self.wide: Wide = wide
        self.declarations: set[str] = set()
        self._prefix = libm_prefix
        self._lines: list[str] = []
        self._types: dict[str, str] = {}
        self.arguments: list[str] = []
        for index, kind in enumerate(parameters):
            self.arguments.append(f"%a{index}")
            self._types[f"%a{index}"] = kind

    def type_of(self, value: str) -> str:
        """The type of a value made here."""
        return self._types[value]

    def _emit(self, text: str, kind: str) -> str:
        value = f"%v{len(self._types)}"
        self._lines.append(f"  {value} = {text}")
        self._types[value] = kind
        return value

    def constant(self, number: float, kind: str) -> str:
        """A double as a value of ``kind``."""
        text = float(number).hex()
        import struct

        bits = struct.pack(">d", number).hex().upper()
        value = self._emit(f"bitcast i64 u0x{bits} to double ; {text}", DOUBLE)
        return self.convert(value, kind)

    def convert(self, value: str, kind: str) -> str:
        """A floating-point value as another floating-point type, rounded to nearest."""
        old = self.type_of(value)
        if old == kind:
            return value
        op = "fpext" if _RANK[old] < _RANK[kind] else "fptrunc"
        return self._emit(f"{op} {old} {value} to {kind}", kind)

    def binary(self, op: str, x: str, y: str) -> str:
        """``fadd``, ``fsub``, ``fmul``, ``fdiv``, ``and`` and the like."""
        kind = self.type_of(x)
        return self._emit(f"{op} {kind} {x}, {y}", kind)

    def negate(self, x: str) -> str:
        """An ``fneg``."""
        kind = self.type_of(x)
        return self._emit(f"fneg {kind} {x}", kind)

    def compare(self, predicate: str, x: str, y: str) -> str:
        """An ``fcmp``."""
        return self._emit(f"fcmp {predicate} {self.type_of(x)} {x}, {y}", "i1")

    def equals(self, x: str, number: int) -> str:
        """An integer comparison with a constant."""
        return self._emit(f"icmp eq {self.type_of(x)} {x}, {number}", "i1")

    def select(self, condition: str, x: str, y: str) -> str:
        """``x`` where the condition holds, else ``y``."""
        kind = self.type_of(x)
        return self._emit(f"select i1 {condition}, {kind} {x}, {kind} {y}", kind)

    def to_int(self, x: str) -> str:
        """A floating-point value as a signed 32-bit integer."""
        return self._emit(f"fptosi {self.type_of(x)} {x} to i32", "i32")

    def from_int(self, x: str, kind: str) -> str:
        """A signed integer as a floating-point value."""
        return self._emit(f"sitofp {self.type_of(x)} {x} to {kind}", kind)

    def store(self, value: str, pointer: str) -> None:
        """Stores a value."""
        self._lines.append(f"  store {self.type_of(value)} {value}, ptr {pointer}")

    def load(self, kind: str, pointer: str) -> str:
        """Loads a value."""
        return self._emit(f"load {kind}, ptr {pointer}", kind)

    def local(self, kind: str) -> str:
        """The address of a variable on the stack."""
        return self._emit(f"alloca {kind}", "ptr")

    def call(self, result: str, function: str, *arguments: str) -> str:
        """A call of a C function; declares it."""
        kinds = ", ".join(self.type_of(a) for a in arguments)
        passed = ", ".join(f"{self.type_of(a)} {a}" for a in arguments)
        self.declarations.add(f"declare {result} @{function}({kinds}) nounwind")
        return self._emit(f"call {result} @{function}({passed})", result)

    def libm(self, function: str, *arguments: str, result: str = "") -> str:
        """A libm function in the variant for the type of the first argument."""
        kind = self.type_of(arguments[0])
        suffix = {FLOAT: "f", DOUBLE: ""}.get(kind, "l")
        return self.call(result or kind, f"{self._prefix}{function}{suffix}", *arguments)

    def intrinsic(self, function: str, *arguments: str) -> str:
        """An LLVM intrinsic overloaded on the type of its first argument."""
        kind = self.type_of(arguments[0])
        return self.call(kind, f"llvm.{function}.{_MANGLED[kind]}", *arguments)

    def text(self, value: str) -> str:
        """The whole function, returning ``value`` (empty for none)."""
        parameters = ", ".join(f"{self.type_of(a)} {a}" for a in self.arguments)
        end = f"ret {self.result} {value}" if value else "ret void"
        return "\n".join(
            [
                f"define {self.result} @{self.name}({parameters}) alwaysinline nounwind {{",
                *self._lines,
                f"  {end}",
                "}",
            ]
        )

"""Choices of CODEGEN that change a module as a whole: floating point and debug information.

The defaults are Rust's semantics: subnormals kept, division and square root correctly
rounded, no multiplication fused with an addition unless the source says `mul_add`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from fatcrate.lto import references

DEBUG_CHOICES = ("none", "line", "full")
DIVISION_CHOICES = {"ieee": 2, "full": 1, "approx": 0}
SQRT_CHOICES = {"ieee": 1, "approx": 0}
CONTRACT_CHOICES = {"off": 0, "on": 2}


class Policy(NamedTuple):
    """What the user asked for, beside the optimisation level."""

    ftz: bool = False
    division: str = "ieee"
    sqrt: str = "ieee"
    contract: str = "off"
    debug: str = "line"
    options: tuple[str, ...] = ()  # further LLVM options

    def llvm_options(self) -> list[str]:
        """Command-line options of LLVM's NVPTX back end; only what differs from its defaults."""
        made = [f"-nvptx-fma-level={CONTRACT_CHOICES[self.contract]}"]
        if self.division != "ieee":
            made.append(f"-nvptx-prec-divf32={DIVISION_CHOICES[self.division]}")
        if self.sqrt != "ieee":
            made.append(f"-nvptx-prec-sqrtf32={SQRT_CHOICES[self.sqrt]}")
        return [*made, *self.options]

    def edits(self, bitcode: bytes) -> bool:
        """Whether :meth:`apply` would change the module; cheap, may say yes for nothing."""
        return self.ftz or (self.debug != "full" and has_debug_info(bitcode))

    def apply(self, text: str) -> str:
        """The module's textual IR with the policy in it."""
        if self.debug == "none" or self.ftz:
            text = references.inert(text)
        if self.debug == "none":
            text = strip_debug(text)
        elif self.debug == "line":
            text = _EMISSION.sub("emissionKind: DebugDirectivesOnly", text)
        return flush_subnormals(text) if self.ftz else text


def has_debug_info(bitcode: bytes) -> bool:
    """Whether a module carries debug information: its version flag is a metadata string."""
    return b"Debug Info Version" in bitcode


_EMISSION = re.compile(r"emissionKind: (?:FullDebug|LineTablesOnly)")
_RECORD = re.compile(r"^\s*#dbg_\w+\(.*\)$\n?", re.MULTILINE)
_ATTACHED = re.compile(r",? !dbg !\d+")
_UNITS = re.compile(r"^!llvm\.dbg\.cu = .*$\n?", re.MULTILINE)
_VERSION_FLAG = re.compile(
    r'^(!\d+) = !\{i32 \d+, !"(?:Debug Info|Dwarf) Version".*$\n?', re.MULTILINE
)
_FLAGS = re.compile(r"^!llvm\.module\.flags = !\{(.*)\}$", re.MULTILINE)


def strip_debug(text: str) -> str:
    """Removes debug information from textual IR."""
    text = _UNITS.sub("", _ATTACHED.sub("", _RECORD.sub("", text)))
    dropped = {match[1] for match in _VERSION_FLAG.finditer(text)}
    if not dropped:
        return text

    def flags(match: re.Match[str]) -> str:
        kept = [f for f in match[1].split(", ") if f not in dropped]
        return f"!llvm.module.flags = !{{{', '.join(kept)}}}"

    return _FLAGS.sub(flags, text)


_GROUP = re.compile(r"^(attributes #\d+ = \{.*) \}$", re.MULTILINE)
_DEFINE = re.compile(r"^(define [^\n]*\))([^()\n]*\{)$", re.MULTILINE)
_FTZ_ATTRIBUTE = '"denormal-fp-math-f32"="preserve-sign,preserve-sign"'


def flush_subnormals(text: str) -> str:
    """Makes f32 arithmetic flush subnormals to zero, in code and in libdevice.

    NVPTX reads a function attribute; libdevice asks ``__nvvm_reflect("__CUDA_FTZ")``, which
    LLVM answers from the module flag ``nvvm-reflect-ftz``.
    """
    text = re.sub(r' "denormal-fp-math(?:-f32)?"="[^"]*"', "", text)
    text = _GROUP.sub(lambda m: f"{m[1]} {_FTZ_ATTRIBUTE} }}", text)
    text = _DEFINE.sub(lambda m: m[0] if "#" in m[2] else f"{m[1]} {_FTZ_ATTRIBUTE}{m[2]}", text)
    flag = '!999999 = !{i32 4, !"nvvm-reflect-ftz", i32 1}'
    if _FLAGS.search(text):
        text = _FLAGS.sub(
            lambda m: f"!llvm.module.flags = !{{{m[1]}{', ' if m[1] else ''}!999999}}", text
        )
    else:
        text += "\n!llvm.module.flags = !{!999999}\n"
    return f"{text}\n{flag}\n"

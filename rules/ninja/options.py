"""Reads the keys of a target that choose how code is linked and generated.

Each has the name of the argument of the recipe's functions that it becomes; what a key means
is told by ``fatcrate link --help`` and ``fatcrate codegen --help``.
"""

from __future__ import annotations

import re

from fatcrate.rules import errors
from fatcrate.rules.ninja.model import Value
from fatcrate.rules.ninja.yamlfile import Section

OPT_LEVELS = ("0", "1", "2", "3", "s", "z")
ENGINES = ("llvmlite", "libllvm")

_CHOICES = {
    "opt_level": OPT_LEVELS,
    "div": ("ieee", "full", "approx"),
    "sqrt": ("ieee", "approx"),
    "contract": ("off", "on"),
    "debug": ("none", "line", "full"),
}
_FLAGS = ("ftz", "unroll", "vectorize")
_NUMBERS = {
    "min_driver": "write a driver branch, such as 535",
    "inline_threshold": "write a number, such as 225, LLVM's own",
}
_LISTS = ("llvm_options",)

#: Keys of arguments of ``codegen_argv``.
CODE_KEYS = (*_CHOICES, *_FLAGS, *_NUMBERS, *_LISTS)
#: Keys of arguments of ``link_argv``.
QUESTION_KEYS = ("undefined", "why", "trace_symbol", "print_gc")
#: Those that are about symbols of a module.
SYMBOL_KEYS = QUESTION_KEYS[:3]

_AMOUNT = re.compile(r"[0-9]{1,9}")


def code(section: Section) -> dict[str, Value]:
    """Arguments of ``codegen_argv`` that the section gives."""
    found: dict[str, Value] = {}
    for key in CODE_KEYS:
        if key not in section.entries:
            continue
        if key in _CHOICES:
            found[key] = section.choice(key, _CHOICES[key], _CHOICES[key][0])
        elif key in _FLAGS:
            found[key] = section.boolean(key)
        elif key in _LISTS:
            found[key] = list(section.texts(key))
        else:
            found[key] = _number(section, key)
    return found


def _number(section: Section, key: str) -> str:
    text = section.text(key)
    if text and not _AMOUNT.fullmatch(text):
        section.fault(errors.BAD_VALUE, key, f"cannot be '{text}'", _NUMBERS[key])
        return ""
    return text


def questions(section: Section) -> dict[str, Value]:
    """Arguments of ``link_argv`` that the section gives."""
    found: dict[str, Value] = {}
    for key in SYMBOL_KEYS:
        if key in section.entries:
            found[key] = list(section.texts(key))
    if "print_gc" in section.entries:
        found["print_gc"] = section.boolean("print_gc")
    return found

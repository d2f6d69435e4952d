"""Roots, internalisation and garbage collection of a merged module."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from fatcrate.lto import runtime
from fatcrate.lto.engine import Engine, Module

_USED = re.compile(r'ptr (?:addrspacecast \(ptr addrspace\(\d+\) )?@(?:"((?:[^"])*)"|([-\w$.]+))')
_USED_LISTS = ("llvm.used", "llvm.compiler.used")
_KEPT_LINKAGE = frozenset({"internal", "private", "appending", "available_externally"})


def used_symbols(module: Module) -> list[str]:
    """Symbols that ``#[used]`` keeps alive."""
    found: list[str] = []
    for name in _USED_LISTS:
        value = module.find(name)
        if value is not None:
            found += [
                runtime.unescape(m[1]).decode("utf-8", "replace") if m[1] is not None else m[2]
                for m in _USED.finditer(value.text())
            ]
    return list(dict.fromkeys(found))


def drop_used(module: Module) -> None:
    """Takes the ``#[used]`` lists away, so that garbage collection decides alone."""
    for number, name in enumerate(_USED_LISTS):
        value = module.find(name)
        if value is not None:
            value.linkage = "internal"
            value.name = f"fc.used.{number}"


def internalize(module: Module, roots: Collection[str]) -> None:
    """Makes every definition but ``roots`` invisible outside the module."""
    for value in (*module.functions(), *module.variables()):
        if value.is_declaration or value.linkage in _KEPT_LINKAGE:
            continue
        if value.name not in roots:
            value.linkage = "internal"
        elif value.linkage != "common":
            value.linkage = "external"


def collect(engine: Engine, module: Module) -> None:
    """Removes what nothing visible refers to."""
    engine.run_passes(module, ["globaldce", "strip-dead-prototypes"], None)


def undefined(module: Module) -> list[str]:
    """Names that are declared and referred to but not defined; intrinsics left out."""
    return sorted(
        value.name
        for value in (*module.functions(), *module.variables())
        if value.is_declaration and not value.name.startswith("llvm.")
    )


def demote(module: Module, keep: Iterable[str]) -> None:
    """Prepares a library module: only ``keep`` must be linked, the rest as it is needed."""
    wanted = set(keep)
    for value in (*module.functions(), *module.variables()):
        if value.is_declaration or value.linkage in _KEPT_LINKAGE:
            continue
        value.linkage = "external" if value.name in wanted else "linkonce_odr"

"""From a linked module to one that can be emitted for an arch: queries, names, passes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from fatcrate.lto import internalize, mathmap, runtime, symbols
from fatcrate.lto.engine import Engine, Module, Target, Tuning
from fatcrate.toolchain import arch as archs
from fatcrate.toolchain import names

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_FOLD_FUNCTION = ["sroa", "sccp", "simplifycfg", "adce"]


def query_definitions(arch: archs.Arch) -> str:
    """Textual IR of the arch queries' answers for one arch."""
    present = [f for f in archs.FEATURES if archs.has_feature(arch, f)]
    cases = "\n".join(f"    i32 {f.id}, label %yes" for f in present)
    return (
        f"define internal i32 @{names.ARCH_QUERY}() alwaysinline {{\n"
        f"  ret i32 {arch.number * 10}\n}}\n"
        f"define internal zeroext i1 @{names.FEATURE_QUERY}(i32 %feature) alwaysinline {{\n"
        f"  switch i32 %feature, label %no [\n{cases}\n  ]\n"
        "yes:\n  ret i1 true\nno:\n  ret i1 false\n}\n"
    )


#: A wrapper of a query: what it returns depends on the feature or number that it is given.
_WRAPPER = re.compile(r"^define (?![^\n]*\bptx_kernel\b)[^@\n]*\bi\d+ @[^\n]*\bi\d+ [^\n]*%", re.M)
_WRAPPER_LINES = 80


def _inline_wrappers(engine: Engine, module: Module, marks: list[str], target: Target) -> None:
    """Inlines functions such as ``fn at_least(n: u32) -> bool { gpu::arch() >= n }``.

    A branch on their result folds in the caller only. Those that the user wants apart
    (``#[inline(never)]``) stay.
    """
    seen: set[str] = set()
    while True:
        found = []
        for function in module.functions():
            if function.is_declaration or function.name in seen:
                continue
            text = function.text()
            if not any(mark in text for mark in marks):
                continue
            lines = text.count("\n")
            if lines <= _WRAPPER_LINES and _WRAPPER.search(text):
                seen.add(function.name)
                if not any("noinline" in each for each in function.attributes()):
                    found.append(function)
        if not found:
            return
        for function in found:
            function.add_attribute("alwaysinline")
        engine.run_passes(module, ["always-inline"], target)


def answer_queries(engine: Engine, module: Module, arch: archs.Arch, target: Target) -> None:
    """Defines the arch queries and removes what they make unreachable, at every level.

    Code for another arch must be gone before code generation, or LLVM aborts on its
    instructions. Only functions that ask are simplified, so that -O0 stays -O0 elsewhere.
    """
    queries = [q for q in (names.ARCH_QUERY, names.FEATURE_QUERY) if module.find(q)]
    if not queries:
        return
    engine.run_passes(module, ["always-inline"], target)
    marks = [f"@{query}(" for query in queries]
    _inline_wrappers(engine, module, marks, target)
    asking = [
        f.name
        for f in module.functions()
        if not f.is_declaration and any(mark in f.text() for mark in marks)
    ]
    definitions = engine.parse_text(query_definitions(arch))
    definitions.set_target(names.NVPTX_TRIPLE, runtime.DATA_LAYOUT)
    for query in (names.ARCH_QUERY, names.FEATURE_QUERY):
        value = definitions.find(query)
        if value is not None:
            value.linkage = "external"
    module.link_in(definitions)
    for query in (names.ARCH_QUERY, names.FEATURE_QUERY):
        value = module.find(query)
        if value is not None:
            value.linkage = "internal"
    engine.run_passes(module, ["always-inline"], target)
    engine.run_function_passes(module, asking, _FOLD_FUNCTION, target)
    engine.run_passes(module, ["ipsccp"], target)
    engine.run_function_passes(module, asking, ["simplifycfg", "adce"], target)
    internalize.collect(engine, module)


def rename_for_ptx(module: Module) -> None:
    """Gives symbols that only this module knows names that PTX allows.

    LLVM would rename them too, but not where such a symbol has become external.
    """
    for value in (*module.functions(), *module.variables()):
        name = value.name
        if value.is_declaration and name.startswith("llvm."):
            continue
        if not symbols.is_ptx_name(name) and not name.startswith("llvm."):
            value.name = symbols.ptx_name(name)


def split_vectors(engine: Engine, module: Module, target: Target) -> None:
    """Does vector operations that LLVM cannot generate element by element.

    After the optimiser, which makes vectors of scalar operations.
    """
    found = False
    for value in module.functions():
        if not value.is_declaration or not value.name.startswith("llvm."):
            continue
        name = "fc_" + value.name.replace(".", "_")
        text = mathmap.elementwise(value.name, name)
        if text is None:
            continue
        value.name = name
        definition = engine.parse_text(text)
        definition.set_target(names.NVPTX_TRIPLE, runtime.DATA_LAYOUT)
        module.link_in(definition)
        linked = module.find(name)
        assert linked is not None
        linked.linkage = "internal"
        found = True
    if found:
        engine.run_passes(module, ["always-inline", "globaldce"], target)


class _Unmeasured:
    """A phase that nobody measures."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def _unmeasured(_: str) -> _Unmeasured:
    return _Unmeasured()


def optimise(
    engine: Engine,
    module: Module,
    arch: archs.Arch,
    target: Target,
    tuning: Tuning,
    *,
    phase: Callable[[str], AbstractContextManager[None] | _Unmeasured] = _unmeasured,
) -> None:
    """Everything between the linked module and code generation.

    ``phase`` is entered with the name of each part, for those who measure.
    """
    with phase("answer arch queries"):
        answer_queries(engine, module, arch, target)
    with phase("inline primitives"):
        engine.run_passes(module, ["always-inline"], target)
        rename_for_ptx(module)
    if tuning.size:
        for function in module.functions():
            if not function.is_declaration:
                function.add_attribute("optsize" if tuning.size == 1 else "minsize")
    with phase("optimise"):
        engine.optimise(module, target, tuning)
        engine.run_passes(module, ["globaldce", "strip-dead-prototypes"], target)
        split_vectors(engine, module, target)

"""From a linked module to one that the host's CPU can run.

Phases, each on the result of the one before:

1. open: bodies of primitives and math functions are taken out (``opening.py``);
2. stage: ``unoptimised`` answers the arch queries (no architecture, no features) and stops;
   ``linked`` also runs the target's own optimiser, as CODEGEN would;
3. retarget: the text is rewritten for the host (``retarget.py``);
4. complete: the CPU's primitives, libm, scheduler and an entry per kernel are linked in.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from fatcrate.lto import layout, pipeline, runtime, symbols
from fatcrate.lto.codegen import LEVELS
from fatcrate.lto.cpu import elements, errors, hostmath, irtext, opening, retarget
from fatcrate.lto.cpu.sites import Site
from fatcrate.lto.engine import Engine, Module, Target, Tuning
from fatcrate.toolchain import names
from fatcrate.toolchain.arch import Arch
from fatcrate.toolchain.diagnostics import fail

Stage = Literal["unoptimised", "linked"]
STAGES: tuple[Stage, ...] = get_args(Stage)
MACHINES = ("x86_64", "aarch64")

#: What narrow.ll defines.
CONVERSIONS = frozenset(
    ("__truncsfbf2", "__truncdfbf2", "__truncsfhf2", "__truncdfhf2", "__extendhfsf2")
)
#: The CPU answers the arch queries as an architecture without number and features.
_NO_ARCH = Arch("sm", 0)
#: The optimiser wants some processor; no choice of it is visible in the result's meaning.
_CPU = "sm_80"

_ENTRY_PREFIX = "__fc_cpu_entry."
_KERNEL_PREFIX = "__fc_cpu_kernel."
RUN = "__fc_cpu_run"

_EXTERNAL = """\
define void @__assertfail(ptr %a, ptr %b, i32 %c, ptr %d, i64 %e) {
  call void @__fc_cpu_trap(i32 0)
  unreachable
}
define i32 @__nvvm_reflect(ptr %a) {
  ret i32 0
}
declare void @__fc_cpu_trap(i32)
"""


@dataclass(frozen=True)
class Entry:
    """A kernel that can be started through ``symbol``, a function of its argument block."""

    name: str
    symbol: str
    slots: tuple[layout.Slot, ...]
    offsets: tuple[int, ...]
    shared: tuple[retarget.SharedArray, ...]
    refused: tuple[str, ...]  # why it cannot run here
    elements: tuple[elements.Element | None, ...] = ()  # behind pointers, where the code tells


@dataclass
class Prepared:
    """A host module and what the worker must know of it."""

    module: Module
    entries: dict[str, Entry]
    sites: Sequence[Site]
    symbols: dict[str, int]  # addresses of host functions


@dataclass(frozen=True)
class Host:
    """The machine that runs the kernels."""

    machine: str  # x86_64 or aarch64
    target: Target
    layout: str  # LLVM data layout


def machine() -> str:
    """The host's machine. Raises FC0611 where kernels cannot run."""
    name = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    if name not in MACHINES or platform.system() != "Linux":
        fail(
            errors.NO_HOST,
            f"{platform.system()} on {platform.machine()}",
            "kernels cannot run on this host's CPU",
            remedy=f"run them on Linux on {' or '.join(MACHINES)}",
        )
    return name


def prepare(
    engine: Engine, linked: bytes, stage: Stage, opt_level: str, state: int, host: Host
) -> Prepared:
    """Does all phases. ``state`` is the address of the runner's state.

    Raises :class:`EngineError` when LLVM refuses the input.
    """
    merged = irtext.parse(engine.parse_bitcode(linked).text())
    behind = {name: elements.of_kernel(merged.functions, name) for name in _kernels(merged)}
    text = irtext.parse(_staged(engine, merged, stage, opt_level))
    kernels = _kernels(text)
    result = retarget.retarget(text)
    entries = {name: _entry(result, name, behind.get(name, ())) for name in kernels}
    module = engine.parse_text(text.render())
    module.set_target(host.target.triple, host.layout)
    for name in kernels:  # a kernel called `sin` must not be taken for libm's
        value = module.find(name)
        assert value is not None
        value.name = _KERNEL_PREFIX + name
    for name in ("malloc", "free"):  # the heap's; a crate may define functions of these names
        value = module.find(name)
        if value is not None and value.is_declaration:
            value.name = f"__fc_cpu_{name}"
    math = hostmath.definitions({*retarget.used_math(result), *opening.row_math()}, host.machine)
    pieces = [
        opening.row(),
        math,
        _source("runtime.ll"),
        _source("narrow.ll"),
        _source(f"switch_{host.machine}.ll"),
        f"@__fc_cpu_state = constant ptr inttoptr (i64 {state} to ptr)\n",
        _EXTERNAL,
        *[_entry_text(result, entries[name]) for name in kernels],
    ]
    for piece in pieces:
        part = engine.parse_text(piece)
        part.set_target(host.target.triple, host.layout)
        module.link_in(part)
    _seal(module, {RUN, *[e.symbol for e in entries.values()]}, result)
    engine.run_passes(module, ["always-inline", "globaldce", "strip-dead-prototypes"], host.target)
    module.verify()
    found = {**hostmath.host_symbols(math), **_host_heap()}
    return Prepared(module, entries, result.sites, found)


def _host_heap() -> dict[str, int]:
    """Addresses of the C library's allocator, under names that no crate has."""
    library = ctypes.CDLL(None)
    return {
        f"__fc_host_{name}": ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
        for name in ("malloc", "free")
    }


def _kernels(text: irtext.Text) -> list[str]:
    return [n for n, f in text.functions.items() if re.search(r"\bptx_kernel\b", f.header)]


def _staged(engine: Engine, text: irtext.Text, stage: Stage, opt_level: str) -> str:
    """Phases 1 and 2: the module's text as the retargeting takes it."""
    opening.open_bodies(text)
    module = engine.parse_text(text.render())
    module.set_target(names.NVPTX_TRIPLE, runtime.DATA_LAYOUT)
    level, size = LEVELS[opt_level]
    target = Target(names.NVPTX_TRIPLE, _CPU, "", level)
    if stage == "linked":
        pipeline.optimise(engine, module, _NO_ARCH, target, Tuning(size=size))
    else:
        pipeline.answer_queries(engine, module, _NO_ARCH, target)
        engine.run_passes(module, ["globaldce", "strip-dead-prototypes"], target)
    return module.text()


def _source(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as stream:
        return stream.read()


def _parameters(header: str) -> list[str]:
    """The parameters of a function's first line, without their names."""
    begin = header.index("(", header.index("@"))
    inner = header[begin + 1 : opening.closing(header, begin)]
    return [re.sub(r' %(?:"[^"]*"|\S+)$', "", text) for text in layout.split(inner)]


def _entry(
    result: retarget.Retargeted, name: str, behind: tuple[elements.Element | None, ...]
) -> Entry:
    header = result.text.functions[name].header
    slots = layout.parameters(header)
    reached = result.reach(name)
    refused = [
        f"{reason} in `{symbols.demangle(function)}`" if function != reason else reason
        for function in sorted(reached & result.refused.keys())
        for reason in dict.fromkeys(result.refused[function])
    ]
    if any(slot.cls == "aggregate" for slot in slots):
        refused.append("a parameter that is a struct or array, passed by value")
    return Entry(
        name,
        _ENTRY_PREFIX + name,
        tuple(slots),
        tuple(layout.offsets(slots)),
        tuple(array for key, array in result.shared.items() if key in reached),
        tuple(refused),
        behind,
    )


def _entry_text(result: retarget.Retargeted, entry: Entry) -> str:
    """A function that unpacks an argument block and calls the kernel."""
    if any(slot.cls == "aggregate" for slot in entry.slots):
        return f'define void @"{entry.symbol}"(ptr %block) {{\n  unreachable\n}}\n'
    header = result.text.functions[entry.name].header
    lines, passed, types = [], [], []
    for index, (text, offset) in enumerate(zip(_parameters(header), entry.offsets, strict=True)):
        kind = layout.type_text(text)
        lines.append(f"  %p{index} = getelementptr i8, ptr %block, i64 {offset}")
        lines.append(f"  %v{index} = load {kind}, ptr %p{index}, align 1")
        passed.append(f"{text} %v{index}")
        types.append(kind)
    kernel = f'@"{_KERNEL_PREFIX}{entry.name}"'
    return "\n".join(
        [
            f"declare void {kernel}({', '.join(types)})",
            f'define void @"{entry.symbol}"(ptr %block) {{',
            *lines,
            f"  call void {kernel}({', '.join(passed)})",
            "  ret void",
            "}\n",
        ]
    )


def _seal(module: Module, roots: set[str], result: retarget.Retargeted) -> None:
    """Leaves visible what the worker looks up, and what the code generator calls."""
    visible = roots | CONVERSIONS | {array.symbol for array in result.shared.values()}
    for value in (*module.functions(), *module.variables()):
        if not value.is_declaration and value.name not in visible:
            value.linkage = "internal"

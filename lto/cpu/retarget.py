"""From device IR to host IR: a rewriting of a module's text.

Address spaces become one, kernels plain functions, NVIDIA's position and barrier intrinsics
primitives. Each barrier and trap gets a number (a site), each piece of static shared memory a
guard band. What the host cannot do is replaced by something harmless and noted; a kernel that
reaches such a note is refused by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fatcrate.lto import layout, references, symbols
from fatcrate.lto.cpu import hostmath, irtext, opening
from fatcrate.lto.cpu.sites import UNKNOWN, DebugInfo, Site
from fatcrate.lto.cpu.state import SHARED_GUARD
from fatcrate.toolchain import names

REFUSED_PREFIX = "__fc_cpu_refused."

_SREG = "llvm.nvvm.read.ptx.sreg."
#: NVIDIA's intrinsics (as `core::arch::nvptx` has them) that are primitives.
_PRIMITIVES = {
    **{f"{_SREG}tid.{c}": f"__fc_thread_idx_{c}" for c in "xyz"},
    **{f"{_SREG}ntid.{c}": f"__fc_block_dim_{c}" for c in "xyz"},
    **{f"{_SREG}ctaid.{c}": f"__fc_block_idx_{c}" for c in "xyz"},
    **{f"{_SREG}nctaid.{c}": f"__fc_grid_dim_{c}" for c in "xyz"},
    f"{_SREG}laneid": "__fc_lane_id",
    f"{_SREG}warpsize": "__fc_warp_size",
    "llvm.nvvm.membar.cta": "__fc_fence_block",
    "llvm.nvvm.membar.gl": "__fc_fence_device",
    "llvm.nvvm.membar.sys": "__fc_fence_system",
}
#: Functions that the host's C library has and device code may call.
_HOST_FUNCTIONS = frozenset(
    {"malloc", "free", "memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen"}
)
#: Functions of the driver that ``prepare.py`` defines.
_DEFINED_FUNCTIONS = frozenset({"__assertfail", "__nvvm_reflect"})

_CALL = r"(?:tail |musttail |notail )?call (?:\w+ )*?void "
_BARRIER = re.compile(
    _CALL + r"@(?:__fc_barrier\(\)"
    r"|llvm\.nvvm\.barrier0\(\)"
    r"|llvm\.nvvm\.barrier\.(?:cta\.)?sync(?:\.aligned)?(?:\.all)?\(i32 0\))"
)
_TRAP = re.compile(_CALL + r"@(?:__fc_trap\(\)|llvm\.trap\(\)|llvm\.ubsantrap\(i8 \S+\))")
_ASM = re.compile(r'\basm (?:sideeffect |alignstack |inteldialect |unwind )*"([^"]*)"')
_DEBUG = re.compile(r",? !dbg !(\d+)")
_SPACE = re.compile(r" addrspace\(\d+\)")
_SCOPE = re.compile(r' syncscope\("[^"]*"\)')
_INTRINSIC = re.compile(r"@llvm\.[\w.]+")
_POINTER_SUFFIX = re.compile(r"\.p\d+(?=\.|$)")
_TARGET_ATTRIBUTE = re.compile(r' "(?:target-cpu|target-features|nvvm\.[\w.]+)"(?:="[^"]*")?')
#: Under its own name, and as the optimised module has it, whose names are PTX's.
_DYNAMIC = re.compile(rf'@"?{names.DYNAMIC_SHARED}(?:\.|\$2e)mem\b"?')
_CONSTANT_USE = re.compile(r"\b(?:getelementptr[ \w]*|ptrto\w+|bitcast) ?\([^()]*%fc\.dynamic\b")
_SHARED = re.compile(
    r"^(?P<at>@\S+) = .*?addrspace\(3\) global (?P<rest>.*?)(?:, align (?P<align>\d+))?$"
)


@dataclass(frozen=True)
class SharedArray:
    """A piece of static shared memory. ``symbol`` is the host global, guards included."""

    name: str  # as LINK named it
    symbol: str
    lead: int  # offset of the checked guard's first byte
    size: int  # bytes without guards


@dataclass
class Retargeted:
    """The host's text and what is to be known about it."""

    text: irtext.Text
    sites: list[Site]
    shared: dict[str, SharedArray] = field(default_factory=dict)
    refused: dict[str, list[str]] = field(default_factory=dict)  # function -> reasons
    missing: set[str] = field(default_factory=set)  # primitives to declare

    def reach(self, kernel: str) -> set[str]:
        """Names of all functions and globals that a kernel may touch."""
        found, stack = {kernel}, [kernel]
        while stack:
            name = stack.pop()
            function = self.text.functions.get(name)
            if function is not None:
                names = function.references()
            else:
                names = irtext.references(self.text.globals.get(name, "").partition(" = ")[2])
            stack += names - found
            found |= names
        return found


def _flatten(line: str) -> str:
    """Address spaces to one; casts between them to nothing."""
    line = _SPACE.sub("", line).replace("addrspacecast", "bitcast")
    return _INTRINSIC.sub(lambda m: _POINTER_SUFFIX.sub(".p0", m[0]), line)


class _Rewriter:
    def __init__(self, text: irtext.Text) -> None:
        self.result = Retargeted(text, [UNKNOWN])
        self._debug = DebugInfo(text.rest)

    def site(self, function: str, line: str) -> int:
        """The number of a new site."""
        match = _DEBUG.search(line)
        where = self._debug.where(match[1]) if match else ""
        self.result.sites.append(Site(function, where))
        return len(self.result.sites) - 1

    def refuse(self, function: str, reason: str) -> None:
        """Notes why a function cannot run here."""
        self.result.refused.setdefault(function, []).append(reason)

    def line(self, function: str, line: str) -> str:
        """One line of a function's body."""
        if _BARRIER.search(line):
            call = f"call void @__fc_cpu_barrier(i32 {self.site(function, line)})"
            return _BARRIER.sub(call, _DEBUG.sub("", line))
        if _TRAP.search(line):
            call = f"call void @__fc_cpu_trap(i32 {self.site(function, line)})"
            return _TRAP.sub(call, _DEBUG.sub("", line))
        assembly = _ASM.search(line)
        if assembly and assembly[1]:
            return self.assembly(function, line, assembly[1])
        line = _SCOPE.sub("", _DEBUG.sub("", line))
        line = irtext.outside_strings(line, _flatten)
        return self.intrinsics(function, line) if "@llvm.nvvm." in line else line

    def assembly(self, function: str, line: str, template: str) -> str:
        """A line with inline assembly: its result is replaced by some value."""
        first = re.split(r"\\0A|;", template)[0].strip()[:40]
        first = re.sub(r"\$\{?(\d+)(?::\w+)?\}?", r"{\1}", first).replace("$$", "$")
        self.refuse(function, f"inline assembly (`{first}`)")
        result, _, call = line.partition(" = ")
        if not call:
            return "  ; refused"
        kind = re.sub(r"^(?:tail )?call (?:\w+ )*?(?=[\[{<%]|ptr|i\d|float|double|half)", "", call)
        return f"{result} = freeze {_SPACE.sub('', layout.type_text(kind))} poison"

    def intrinsics(self, function: str, line: str) -> str:
        """A line that names NVIDIA's intrinsics."""

        def replace(match: re.Match[str]) -> str:
            name = match[0][1:]
            if name in _PRIMITIVES:
                self.result.missing.add(_PRIMITIVES[name])
                return f"@{_PRIMITIVES[name]}"
            self.refuse(function, f"the intrinsic `{name}`")
            return f'@"{REFUSED_PREFIX}{name}"'

        return re.sub(r"@llvm\.nvvm\.[\w.]+", replace, line)

    def dynamic_shared(self, function: irtext.Function) -> None:
        """Uses of dynamic shared memory by its name, as CUDA C++ has them, ask for its address."""
        value = "%fc.dynamic"
        body = [
            _DYNAMIC.sub(value, line).replace(f"bitcast (ptr {value} to ptr)", value)
            for line in function.body
        ]
        if any(_CONSTANT_USE.search(line) for line in body):
            self.refuse(function.name, "an address within dynamic shared memory as a constant")
            return
        self.result.missing.add(names.DYNAMIC_SHARED)
        first = 1 if re.match(r"\S+:", body[0]) else 0
        body.insert(first, f"  {value} = call ptr @{names.DYNAMIC_SHARED}()")
        function.body = body

    def header(self, line: str) -> str:
        """A function's first line for the host."""
        line = re.sub(r" !dbg !\d+", "", line)
        line = re.sub(r' (?:section|partition) "[^"]*"', "", line)
        line = re.sub(r"\b(?:ptx_kernel|ptx_device|cc\d+) ", "", line)
        return irtext.outside_strings(line, _flatten)

    def declaration(self, function: irtext.Function) -> irtext.Function | None:
        """What becomes of a declared function; None drops it."""
        name, header = function.name, self.header(function.header)
        if name.startswith("llvm.nvvm."):
            if name in _PRIMITIVES or _BARRIER.search(f"call void @{name}(i32 0)"):
                return None
            refused = REFUSED_PREFIX + name
            return _stub(refused, header.replace(f"@{name}", f'@"{refused}"'))
        known = name in _HOST_FUNCTIONS or name in _DEFINED_FUNCTIONS
        if known or name.startswith("llvm.") or opening.is_opened(name):
            return irtext.Function(name, header)
        self.refuse(name, f"the function `{symbols.demangle(name)}`, which has no body")
        return _stub(name, header)

    def shared(self, name: str, line: str) -> list[str]:
        """Lines for a global in shared memory: the guarded bytes and their middle."""
        match = _SHARED.match(line)
        if match is None:
            return [irtext.outside_strings(line, _flatten)]
        kind = layout.type_text(match["rest"])
        size, natural = layout.size_align(kind)
        align = max(int(match["align"] or natural), 16)
        before = max(SHARED_GUARD, align)
        symbol = f"__fc_cpu_shared.{len(self.result.shared)}"
        lead = before - SHARED_GUARD
        self.result.shared[name] = SharedArray(name.removesuffix(".mem"), symbol, lead, size)
        total = before + size + SHARED_GUARD
        return [
            f'@"{symbol}" = global [{total} x i8] undef, align {align}',
            f"{match['at']} = internal alias {_SPACE.sub('', kind)},"
            f' getelementptr (i8, ptr @"{symbol}", i64 {before})',
        ]


def _stub(name: str, declaration: str) -> irtext.Function:
    """A definition that is never called, so that the host's code is complete."""
    header = declaration.replace("declare", "define", 1).replace(" immarg", "")
    return irtext.Function(name, header + " {", ["  unreachable"])


def _rest(line: str) -> str | None:
    """A line that is neither type, global nor function; None drops it.

    Without the module flag that gives its version, LLVM drops the debug information.
    """
    if line.startswith("attributes "):
        return _TARGET_ATTRIBUTE.sub("", line)
    if line.startswith(("module asm", "!llvm.module.flags", "!llvm.ident", "!nvvm.")):
        return None
    return line


def retarget(text: irtext.Text) -> Retargeted:
    """Rewrites ``text`` in place for the host; triple and data layout are the caller's."""
    rewriter = _Rewriter(text)
    if any(line.startswith("module asm") for line in text.rest):
        for function in text.functions.values():
            if "ptx_kernel" in function.header:
                rewriter.refuse(function.name, "global assembly in one of the crates")
    made: dict[str, str] = {}
    for name, line in text.globals.items():
        if name in ("llvm.used", "llvm.compiler.used"):
            continue
        if "addrspace(3) global" in line and " external " not in line:
            made[name] = "\n".join(rewriter.shared(name, line))
        else:
            line = re.sub(r', section "[^"]*"|, !\w+ !\d+', "", references.inert(line))
            made[name] = irtext.outside_strings(line, _flatten)
    text.globals = made
    functions: dict[str, irtext.Function] = {}
    for function in text.functions.values():
        if function.is_declaration:
            kept = rewriter.declaration(function)
            if kept is not None:
                functions[kept.name] = kept
            continue
        function.header = rewriter.header(function.header)
        function.body = [
            rewriter.line(function.name, line)
            for line in function.body
            if not line.startswith("    #dbg_")
        ]
        if any(_DYNAMIC.search(line) for line in function.body):
            rewriter.dynamic_shared(function)
        functions[function.name] = function
    text.functions = functions
    text.rest = [line for line in map(_rest, text.rest) if line is not None]
    _declare(rewriter.result)
    return rewriter.result


def _declare(result: Retargeted) -> None:
    """Declares what the rewriting has called."""
    functions = result.text.functions
    for name in ("__fc_cpu_barrier", "__fc_cpu_trap"):
        functions[name] = irtext.Function(name, f"declare void @{name}(i32)")
    for name in result.missing - functions.keys():
        kind = "void" if "fence" in name else "ptr" if name == names.DYNAMIC_SHARED else "i32"
        functions[name] = irtext.Function(name, f"declare {kind} @{name}()")


def used_math(result: Retargeted) -> list[str]:
    """The libdevice functions that are declared and have a host body."""
    return sorted(n for n in result.text.functions if n in hostmath.supported())

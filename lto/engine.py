"""What LINK and CODEGEN ask of an LLVM: the interface that every engine implements.

An engine owns one LLVM library. Values are handles into a module and become stale when the
module is linked into another or optimised. Engines run inside a worker process
(``isolate.py``), since LLVM ends its process on input that its code generators refuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol


class EngineError(Exception):
    """LLVM reported a fault in its input (as opposed to aborting)."""


class Target(NamedTuple):
    """What to generate code for."""

    triple: str
    cpu: str  # "sm_90a"
    features: str = ""  # "+ptx87"
    level: int = 3  # 0 to 3


class Value(Protocol):
    """A function, variable or alias of a module."""

    @property
    def name(self) -> str: ...

    @name.setter
    def name(self, name: str) -> None: ...

    @property
    def linkage(self) -> str:
        """LLVM's spelling without underscores in front: ``external``, ``internal``, …"""
        ...

    @linkage.setter
    def linkage(self, linkage: str) -> None: ...

    @property
    def is_declaration(self) -> bool: ...

    @property
    def is_function(self) -> bool: ...

    def text(self) -> str:
        """The value's textual IR; a function with its body."""
        ...

    def attributes(self) -> list[str]:
        """A function's attributes of all positions as text."""
        ...

    def add_attribute(self, name: str) -> None:
        """Adds an enumerated function attribute such as ``alwaysinline``."""
        ...


class Module(Protocol):
    """One LLVM module."""

    def functions(self) -> list[Value]: ...

    def variables(self) -> list[Value]: ...

    def find(self, name: str) -> Value | None:
        """The function or variable of that name."""
        ...

    def link_in(self, other: Module) -> None:
        """Merges ``other`` into this module and uses it up. Raises :class:`EngineError`."""
        ...

    def set_target(self, triple: str, data_layout: str) -> None: ...

    def struct_size(self, name: str) -> tuple[int, int] | None:
        """Size and alignment in bytes of a named struct type, when there is one."""
        ...

    def bitcode(self) -> bytes: ...

    def text(self) -> str: ...

    def verify(self) -> None:
        """Raises :class:`EngineError` with LLVM's text when the module is malformed."""
        ...


class Engine(Protocol):
    """One LLVM library."""

    name: str
    version: tuple[int, ...]

    def parse_bitcode(self, data: bytes, lazy: bool = False) -> Module:
        """``lazy``: function bodies may be read when they are linked, where that is possible."""
        ...

    def parse_text(self, text: str) -> Module: ...

    def run_passes(self, module: Module, passes: Sequence[str], target: Target | None) -> None:
        """Runs named passes, in order, over the module (``globaldce``, ``always-inline``, …)."""
        ...

    def run_function_passes(
        self, module: Module, names: Iterable[str], passes: Sequence[str], target: Target
    ) -> None:
        """Runs function passes over the named functions only."""
        ...

    def optimise(self, module: Module, target: Target, tuning: Tuning) -> None:
        """Runs LLVM's default pipeline at ``target.level``."""
        ...

    def set_options(self, options: Sequence[str]) -> None:
        """Sets LLVM command-line options, for the whole process."""
        ...

    def emit(self, module: Module, target: Target) -> str:
        """Generates assembly text. The module is used up."""
        ...


class Tuning(NamedTuple):
    """Choices beside the optimisation level. ``None`` leaves LLVM's default."""

    inline_threshold: int | None = None
    unroll: bool = True
    vectorise: bool = True
    size: int = 0  # 1: as -Os, 2: as -Oz


ENGINES = ("llvmlite", "libllvm")


class Choice(NamedTuple):
    """Which engine to run; ``path`` is libllvm's shared library."""

    name: str = "llvmlite"
    path: str = ""

    def start(self) -> Engine:
        """Loads the engine into this process. Raises :class:`EngineError`."""
        if self.name == "libllvm":
            from fatcrate.lto.libllvm import LibllvmEngine

            return LibllvmEngine(self.path)
        from fatcrate.lto.llvm import LlvmliteEngine

        return LlvmliteEngine()


def libllvm_name(version: str) -> str:
    """How Rust toolchains call the shared library of an LLVM version ("22.1.8")."""
    return "libLLVM.so." + ".".join(version.split(".")[:2])


def choose(text: str, llvm: str) -> Choice:
    """Reads ``--engine``: ``llvmlite``, ``libllvm`` or ``libllvm=PATH``.

    ``llvm`` is the version of rustc's LLVM, which names the library where no path is given.
    Raises FC0340.
    """
    from fatcrate.lto import errors
    from fatcrate.toolchain.diagnostics import fail

    name, _, path = text.partition("=")
    if name not in ENGINES or (path and name != "libllvm"):
        fail(
            errors.BAD_OPTION,
            "--engine",
            f"{text!r} is not an engine",
            remedy="write llvmlite, libllvm, or libllvm=PATH of libLLVM.so",
        )
    if name == "libllvm" and not path:
        path = libllvm_name(llvm)
    return Choice(name, path)

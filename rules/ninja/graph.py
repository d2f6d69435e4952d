"""The build as a graph of steps: its parts, and which crates a project needs in which form.

Every argv comes from the recipe (``rules/private/recipe.bzl``). Paths are relative to the
project root, where steps run, or absolute for what lies outside of it. Nothing here or in
``crates.py`` and ``targets.py``, which add the edges, touches the file system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Literal

from fatcrate.rules.ninja.model import Crate, Project
from fatcrate.rules.ninja.places import Places
from fatcrate.toolchain.arch import Arch

#: What a crate is compiled as; see ``crate_argv`` in the recipe.
Kind = Literal["device", "host", "proc-macro"]
#: Which intermediate files are kept: none; numbered ones; those of a variant of the build with
#: source lines, for `fatcrate stages`.
Temps = Literal["", "numbered", "lines"]
#: Whether code is generated, or metadata alone as for `fatcrate check`, or MIR as text.
Emit = Literal["link", "metadata", "mir"]
#: See ``writer.py``.
Rule = Literal["step", "crate", "sysroot"]


@dataclass(frozen=True)
class Edge:
    """One step: what it runs, reads and makes."""

    rule: Rule
    what: str  # for people, e.g. "compile kern"
    argv: tuple[str, ...]
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class Check:
    """What `fatcrate check` makes of a crate: metadata, and rustc's diagnostics in JSON.

    ``argv`` is that of the CRATE step; ``needs`` are the keys of the crates it depends on.
    """

    metadata: str
    diagnostics: str
    argv: tuple[str, ...]
    needs: tuple[str, ...]


@dataclass
class Graph:
    """All edges, and the outputs that a name on the command line stands for."""

    edges: list[Edge] = field(default_factory=list)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    checks: dict[str, Check] = field(default_factory=dict)  # by the crate's key

    def outputs(self) -> Iterator[str]:
        """Every output of every edge."""
        for edge in self.edges:
            yield from edge.outputs

    def add(
        self,
        rule: Rule,
        what: str,
        argv: Iterable[str],
        outputs: Iterable[str],
        inputs: Iterable[str],
    ) -> None:
        """Adds an edge; an input named twice counts once."""
        unique = tuple(dict.fromkeys(inputs))
        self.edges.append(Edge(rule, what, tuple(argv), tuple(outputs), unique))


@dataclass(frozen=True)
class Setting:
    """What the graph needs to know beside the project.

    ``tools`` is the recipe's struct; ``stamps`` maps "rustc" and "host" to files that change
    with the compiler and with what links programs of this machine.
    """

    recipe: SimpleNamespace
    tools: SimpleNamespace
    places: Places
    stamps: Mapping[str, str]
    archs: Mapping[str, list[Arch]]  # target -> archs, resolved
    #: panic strategy -> sysroot folder; "" where rustc brings the target's libraries
    sysroots: Mapping[str, str]
    sysroot_libs: Mapping[str, list[tuple[str, str]]]  # panic strategy -> (crate, path)
    temps: Temps = ""

    def depfile(self, output: str) -> list[str]:
        """Options of a step that writes a depfile for Ninja, ``OUTPUT.d``."""
        return [
            *("--depfile", f"{output}.d"),
            *("--depfile-target", self.places.node(output)),
            *("--depfile-base", self.places.base),
        ]


@dataclass(frozen=True)
class Library:
    """A crate as compiled once: for a panic strategy, or for this machine."""

    crate: Crate
    kind: Kind
    panic: str
    path: str  # of the rlib, the shared library or the metadata
    emit: Emit = "link"

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]


def closure(project: Project, roots: Iterable[str]) -> list[str]:
    """Keys of the roots and of all libraries that they depend on, dependencies first, left to
    right, each once. Proc macros and what serves them stay out, unless they are roots."""
    order: dict[str, None] = {}
    for root in roots:
        stack = [(root, iter(project.crates[root].deps))]
        while stack:
            key, deps = stack[-1]
            dep = next(deps, None)
            if dep is None:
                stack.pop()
                order.setdefault(key)
            elif dep.crate not in order and not project.crates[dep.crate].proc_macro:
                stack.append((dep.crate, iter(project.crates[dep.crate].deps)))
    return list(order)


def device_crates(project: Project) -> list[str]:
    """Keys of the crates that are compiled for the GPU: all of the user's but proc macros and
    what serves these or build scripts alone; of the built-in ones those that are used."""
    roots: list[str] = []
    serving: set[str] = set()
    for crate in project.crates.values():
        if crate.proc_macro:
            serving.update(closure(project, [crate.key]))
        if crate.script is not None:
            serving.update(closure(project, [dep.crate for dep in crate.script.deps]))
    for crate in project.crates.values():
        if crate.location is not None and crate.key not in serving:
            roots.append(crate.key)
    roots += [dep.crate for target in project.targets.values() for dep in target.crates]
    return closure(project, roots)

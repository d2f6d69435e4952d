"""The build as a graph: pure functions from a project to edges, each one step.

Every argv comes from the recipe (``rules/private/recipe.bzl``). Paths are relative to the
project root, where steps run, or absolute for what lies outside of it. Nothing here touches
the file system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Literal

from fatcrate.rules.ninja.model import Crate, Project, Target
from fatcrate.rules.ninja.places import Places
from fatcrate.toolchain import names
from fatcrate.toolchain.arch import Arch

Kind = Literal["device", "host", "proc-macro"]


@dataclass(frozen=True)
class Edge:
    """One step: what it runs, reads and makes."""

    rule: str  # "crate", "sysroot" or "step"; see writer.py
    what: str  # for people, e.g. "compile kern"
    argv: tuple[str, ...]
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]


@dataclass
class Graph:
    """All edges, and the outputs that a name on the command line stands for."""

    edges: list[Edge] = field(default_factory=list)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def outputs(self) -> Iterator[str]:
        for edge in self.edges:
            yield from edge.outputs


@dataclass(frozen=True)
class Setting:
    """What the graph needs to know beside the project.

    ``tools`` is the recipe's struct; ``stamps`` maps "rustc" and "host" to files that change
    with the compiler and with what links proc macros.
    """

    recipe: SimpleNamespace
    tools: SimpleNamespace
    places: Places
    stamps: Mapping[str, str]
    archs: Mapping[str, list[Arch]]  # target -> archs, resolved
    #: panic strategy -> sysroot folder; "" where rustc brings the target's libraries
    sysroots: Mapping[str, str]
    sysroot_libs: Mapping[str, list[tuple[str, str]]]  # panic strategy -> (crate, path)


@dataclass(frozen=True)
class Library:
    """A crate as compiled once: for a panic strategy, or for this machine."""

    crate: Crate
    kind: Kind
    panic: str
    path: str  # of the rlib or shared library

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]


def device_crates(project: Project) -> list[str]:
    """Keys of the crates that are compiled for the GPU: all of the user's but proc macros
    and what serves these alone; of the built-in ones those that are used."""
    serving: set[str] = set()
    for crate in project.crates.values():
        if crate.proc_macro:
            serving.update(closure(project, [crate.key]))
    roots = [
        crate.key
        for crate in project.crates.values()
        if crate.location is not None and crate.key not in serving
    ]
    roots += [dep.crate for target in project.targets.values() for dep in target.crates]
    return closure(project, roots, stop_at_proc_macros=True)


def closure(
    project: Project, roots: Iterable[str], *, stop_at_proc_macros: bool = False
) -> list[str]:
    """Keys of the roots and all that they depend on, dependencies first, left to right."""
    order: dict[str, None] = {}
    for root in roots:
        stack = [(root, iter(project.crates[root].deps))]
        while stack:
            key, deps = stack[-1]
            dep = next(deps, None)
            if dep is None:
                stack.pop()
                order.setdefault(key)
            elif dep.crate not in order:
                crate = project.crates[dep.crate]
                if not (stop_at_proc_macros and crate.proc_macro):
                    stack.append((dep.crate, iter(crate.deps)))
    return list(order)


class Builder:
    """Makes the graph of one project."""

    def __init__(self, project: Project, setting: Setting) -> None:
        self.project = project
        self.setting = setting
        self.recipe = setting.recipe
        self.graph = Graph()
        self._libraries: dict[tuple[str, Kind, str], Library] = {}
        self._sysroots: set[str] = set()

    def build(self) -> Graph:
        """All edges: every target, and every crate that no target has."""
        for target in self.project.targets.values():
            self.target(target)
        used = {key for key, kind, _ in self._libraries if kind == "device"}
        for key in device_crates(self.project):
            if key not in used:
                self.library(key, "device", names.PANIC_STRATEGIES[0])
        for crate in self.project.crates.values():
            if crate.proc_macro:
                self.library(crate.key, "proc-macro", "")
        for library in self._libraries.values():
            if library.kind != "host":
                made = self.graph.names.get(library.crate.key, ())
                if library.crate.key not in self.project.targets:
                    self.graph.names[library.crate.key] = (*made, library.path)
        return self.graph

    # Crates

    def library(self, key: str, kind: Kind, panic: str) -> Library:
        """The crate compiled that way; adds its edge, and those it needs, when it is new."""
        crate = self.project.crates[key]
        if crate.proc_macro:
            kind, panic = "proc-macro", ""
        known = self._libraries.get((key, kind, panic))
        if known is not None:
            return known
        library = Library(crate, kind, panic, self._library_path(crate, kind, panic))
        self._libraries[key, kind, panic] = library
        self._crate_edge(library)
        return library

    def _library_path(self, crate: Crate, kind: Kind, panic: str) -> str:
        """Each way of compiling has a folder of its own, since rustc finds crates by name."""
        folder = "crates"
        if kind == "host":
            folder = "crates-host"
        elif panic not in ("", "immediate-abort"):
            folder = f"crates-{panic}"
        suffix = "so" if kind == "proc-macro" else "rlib"
        return f"{self.setting.places.out}/{folder}/{crate.key}/lib{crate.name}.{suffix}"

    def _needed(self, library: Library) -> list[Library]:
        """What rustc reads when it compiles ``library``: all transitive libraries, those of
        proc macros without what is linked into them."""
        keys = closure(self.project, [library.crate.key], stop_at_proc_macros=True)
        order: dict[str, None] = {}
        for key in keys:
            for dep in self.project.crates[key].deps:
                if self.project.crates[dep.crate].proc_macro:
                    order.setdefault(dep.crate)
            order.setdefault(key)
        order.pop(library.crate.key)
        kind: Kind = "device" if library.kind == "device" else "host"
        return [self.library(key, kind, library.panic) for key in order]

    def _crate_edge(self, library: Library) -> None:
        crate, setting = library.crate, self.setting
        # A proc macro is linked from host libraries, all of them.
        needed = self._needed(library)
        kind: Kind = "device" if library.kind == "device" else "host"
        argv = self.recipe.crate_argv(
            setting.tools,
            name=crate.name,
            source=crate.source,
            output=library.path,
            metadata=self.recipe.crate_metadata(
                crate.origin, list(crate.features), list(crate.cfgs)
            ),
            kind=library.kind,
            edition=crate.edition,
            sysroot=setting.sysroots.get(library.panic, ""),
            panic=library.panic,
            opt_level=crate.opt_level,
            debug=crate.debug,
            deps=[
                (
                    dep.extern or self.project.crates[dep.crate].name,
                    self.library(dep.crate, kind, library.panic).path,
                )
                for dep in crate.deps
            ],
            dep_dirs=list(dict.fromkeys(other.folder for other in needed)),
            features=list(crate.features),
            cfgs=list(crate.cfgs),
            env=sorted(crate.env),
            remaps=list(crate.remaps),
            rustc_flags=list(crate.rustc_flags),
            options=[
                *("--depfile", f"{library.path}.d"),
                *("--depfile-target", setting.places.node(library.path)),
                *("--depfile-base", setting.places.base),
            ],
        )
        inputs = [crate.source, setting.stamps["rustc"], *(other.path for other in needed)]
        if library.kind == "device":
            inputs += self._sysroot(library.panic)
        else:
            inputs.append(setting.stamps["host"])
        where = "" if library.kind == "device" else " for this machine"
        self._add("crate", f"compile {crate.key}{where}", argv, [library.path], inputs)

    def _sysroot(self, panic: str) -> list[str]:
        """Paths of the sysroot's libraries; adds the edge that builds them when it is new."""
        libraries = [path for _, path in self.setting.sysroot_libs[panic]]
        directory = self.setting.sysroots[panic]
        if directory and panic not in self._sysroots:
            self._sysroots.add(panic)
            argv = self.recipe.sysroot_argv(self.setting.tools, directory, panic)
            what = f"build core and alloc for the GPU, panic={panic}"
            self._add("sysroot", what, argv, libraries, [])
        return libraries

    # Targets

    def target(self, target: Target) -> None:
        """LINK, CODEGEN and ASSEMBLE for each arch, ABICHECK, PACK, EMBED."""
        base = f"{self.setting.places.out}/{target.name}"
        linked = self._link(target, base)
        ptx: dict[Arch, str] = {}
        cubins: dict[Arch, str] = {}
        reports: dict[Arch, str] = {}
        for arch in self.setting.archs[target.name]:
            ptx[arch] = self._codegen(target, base, linked, arch)
            if not arch.is_ptx:
                cubins[arch], reports[arch] = self._assemble(target, base, ptx[arch], arch)
        images = [(str(arch), cubins.get(arch, ptx[arch])) for arch in ptx]
        report = self._check(target, base, linked, images, reports)
        fatbin = self._pack(target, base, images, report)
        outputs = [fatbin, report, linked.manifest]
        outputs += [self._embed(target, base, fatbin, host) for host in target.host]
        outputs.append(self._bindings(target, base, fatbin, linked.manifest))
        self.graph.names[target.name] = tuple(outputs)

    def _link(self, target: Target, base: str) -> SimpleNamespace:
        roots = [dep.crate for dep in target.crates]
        keys = closure(self.project, roots, stop_at_proc_macros=True)
        crates = [self.library(key, "device", target.panic) for key in keys]
        sysroot = self.setting.sysroot_libs[target.panic]
        linked = SimpleNamespace(
            module=f"{base}/linked.bc", manifest=f"{base}.manifest.json", report=f"{base}/link.json"
        )
        argv = self.recipe.link_argv(
            self.setting.tools,
            name=target.name,
            crates=[(library.crate.name, library.path) for library in crates],
            sysroot_libs=sysroot,
            output=linked.module,
            manifest=linked.manifest,
            report=linked.report,
            exports=list(target.exports),
        )
        outputs = [linked.module, linked.manifest, linked.report]
        inputs = [library.path for library in crates] + [path for _, path in sysroot]
        inputs.append(self.setting.tools.libdevice)
        self._step(f"link {target.name}", argv, outputs, inputs)
        return linked

    def _codegen(self, target: Target, base: str, linked: SimpleNamespace, arch: Arch) -> str:
        output = f"{base}/{arch}.ptx"
        argv = self.recipe.codegen_argv(
            self.setting.tools,
            str(arch),
            linked.module,
            linked.manifest,
            output,
            opt_level=target.opt_level,
        )
        what = f"generate {target.name} for {arch}"
        self._step(what, argv, [output], [linked.module, linked.manifest])
        return output

    def _assemble(self, target: Target, base: str, ptx: str, arch: Arch) -> tuple[str, str]:
        output, report = f"{base}/{arch}.cubin", f"{base}/{arch}.json"
        argv = self.recipe.assemble_argv(
            self.setting.tools, str(arch), ptx, output, report, options=list(target.ptxas_options)
        )
        self._step(f"assemble {target.name} for {arch}", argv, [output, report], [ptx])
        return output, report

    def _check(
        self,
        target: Target,
        base: str,
        linked: SimpleNamespace,
        images: list[tuple[str, str]],
        reports: Mapping[Arch, str],
    ) -> str:
        output = f"{base}.report.json"
        argv = self.recipe.abi_check_argv(
            self.setting.tools,
            manifest=linked.manifest,
            link_report=linked.report,
            images=images,
            assemble_reports=[(str(arch), path) for arch, path in reports.items()],
            report=output,
        )
        inputs = [linked.manifest, linked.report, *reports.values(), *(path for _, path in images)]
        self._step(f"check the ABI of {target.name}", argv, [output], inputs)
        return output

    def _pack(self, target: Target, base: str, images: list[tuple[str, str]], report: str) -> str:
        """The ABI report is an input so that only checked images are packed."""
        output = f"{base}.fatbin"
        argv = self.recipe.pack_argv(self.setting.tools, images, output, compress=target.compress)
        self._step(f"pack {target.name}", argv, [output], [report, *(path for _, path in images)])
        return output

    def _embed(self, target: Target, base: str, fatbin: str, host: str) -> str:
        output = f"{base}.{host}.o"
        argv = self.recipe.embed_argv(self.setting.tools, fatbin, output, host, target.symbol)
        self._step(f"embed {target.name} for {host}", argv, [output], [fatbin])
        return output

    def _bindings(self, target: Target, base: str, fatbin: str, manifest: str) -> str:
        output = f"{base}.h"
        argv = self.recipe.bindings_argv(
            self.setting.tools, fatbin, manifest, target.symbol, output
        )
        self._step(f"write the header of {target.name}", argv, [output], [fatbin, manifest])
        return output

    def _step(
        self, what: str, argv: list[str], outputs: Iterable[str], inputs: Iterable[str]
    ) -> None:
        self._add("step", what, argv, outputs, [*inputs, self.setting.tools.identity])

    def _add(
        self,
        rule: str,
        what: str,
        argv: list[str],
        outputs: Iterable[str],
        inputs: Iterable[str],
    ) -> None:
        unique = tuple(dict.fromkeys(inputs))
        self.graph.edges.append(Edge(rule, what, tuple(argv), tuple(outputs), unique))

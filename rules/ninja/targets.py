"""Edges of targets: LINK, CODEGEN and ASSEMBLE for each arch, ABICHECK, PACK, EMBED.

A target is one module, or several partitions that are linked by themselves. These become a fat
binary each, or one image again (``relocatable``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fatcrate.rules.ninja import partitions
from fatcrate.rules.ninja.checks import part_names
from fatcrate.rules.ninja.crates import Crates
from fatcrate.rules.ninja.graph import Graph, Library, Setting, closure, device_crates
from fatcrate.rules.ninja.model import Project, Target
from fatcrate.toolchain import names
from fatcrate.toolchain.arch import Arch


def build(project: Project, setting: Setting) -> Graph:
    """The whole graph: every target, and every crate that no target has."""
    graph = Graph()
    crates = Crates(project, setting, graph)
    for target in project.targets.values():
        _Target(target, project, setting, graph, crates).add()
    used = {key for key, kind, _, _ in crates.libraries if kind == "device"}
    panic = _common_panic(project)
    for key in device_crates(project):
        if key not in used:
            crates.library(key, "device", panic)
    for crate in project.crates.values():
        if crate.proc_macro:
            crates.library(crate.key, "proc-macro", "")
    for library in list(crates.libraries.values()):
        key = library.crate.key
        if library.kind != "host" and key not in project.targets:
            graph.names[key] = (*graph.names.get(key, ()), library.path)
    for key in device_crates(project):
        crates.library(key, "device", panic, "metadata")
    return graph


def _common_panic(project: Project) -> str:
    """The strategy for crates of no target, and for checks, which do not depend on it: one
    whose sysroot a target needs anyway."""
    needed = {target.panic for target in project.targets.values()}
    default = names.PANIC_STRATEGIES[0]
    return default if default in needed or not needed else min(needed)


@dataclass
class Part:
    """One module of a target: the whole target, or a partition."""

    name: str  # for LINK
    folder: str
    manifest: str
    roots: list[str]  # keys of the crates whose closure is linked
    linking: dict[str, Any] = field(default_factory=dict)  # further arguments of link_argv
    linked_inputs: list[str] = field(default_factory=list)
    ptx: dict[Arch, str] = field(default_factory=dict)
    cubins: dict[Arch, str] = field(default_factory=dict)
    reports: dict[Arch, str] = field(default_factory=dict)
    extras: list[str] = field(default_factory=list)  # files that were asked for

    @property
    def module(self) -> str:
        return f"{self.folder}/linked.bc"

    @property
    def link_report(self) -> str:
        return f"{self.folder}/link.json"

    def images(self) -> list[tuple[str, str]]:
        """(arch, path) of what is packed: cubins, and PTX for `compute_…`."""
        return [(str(arch), self.cubins.get(arch, self.ptx[arch])) for arch in self.ptx]

    def assembled(self) -> list[tuple[str, str]]:
        """(arch, path) of ASSEMBLE's reports."""
        return [(str(arch), path) for arch, path in self.reports.items()]


@dataclass
class _Target:
    """Adds the edges of one target."""

    target: Target
    project: Project
    setting: Setting
    graph: Graph
    crates: Crates

    @property
    def base(self) -> str:
        return f"{self.setting.places.out}/{self.target.name}"

    @property
    def split(self) -> bool:
        """Whether the target has partitions."""
        return bool(self.target.partitions or self.target.auto_partitions)

    def add(self) -> None:
        """All edges, and the target's name."""
        target = self.target
        parts = self._parts()
        for part in parts:
            self._link(part)
            for arch in self.setting.archs[target.name]:
                part.ptx[arch] = self._codegen(part, arch)
                if not arch.is_ptx:
                    part.cubins[arch], part.reports[arch] = self._assemble(part, arch)
        if self.split:
            self._merge_manifests(parts)
        outputs = self._modules(parts) if self.split and not target.relocatable else []
        outputs = outputs or self._module(parts)
        outputs += [path for part in parts for path in part.extras]
        if self.setting.temps:
            outputs += [path for part in parts for path in self._temps(part)]
        self.graph.names[target.name] = tuple(outputs)

    def _parts(self) -> list[Part]:
        """The modules that are linked."""
        target, base = self.target, self.base
        roots = [dep.crate for dep in target.crates]
        if not self.split:
            return [Part(target.name, base, f"{base}.manifest.json", roots)]
        parts = [
            Part(name, f"{base}/{name}", f"{base}/{name}/manifest.json", roots)
            for name in part_names(target)
        ]
        if target.auto_partitions:
            plan = self._plan(parts)
            for part in parts:
                part.linking["plan"] = plan
                part.linked_inputs.append(plan)
            return parts
        for part, told in zip(parts, target.partitions, strict=True):
            part.roots = list(dict.fromkeys(each.partition("/")[0] for each in told.kernels_of))
            part.linking["kernels_of"] = [self._in_rust(each) for each in told.kernels_of]
            part.linking["leave"] = partitions.leave(target, told)
        return parts

    def _in_rust(self, each: str) -> str:
        """``crate/kernel`` with the crate's name in Rust."""
        crate, slash, kernel = each.partition("/")
        return f"{self.project.crates[crate].name}{slash}{kernel}"

    def _plan(self, parts: list[Part]) -> str:
        """PARTITION; returns the plan."""
        output = f"{self.base}/plan.json"
        roots = [dep.crate for dep in self.target.crates]
        keys = closure(self.project, roots)
        crates = self._libraries(keys)
        argv = self.setting.recipe.partition_argv(
            self.setting.tools,
            self.target.name,
            crates=[(library.crate.name, library.path) for library in crates],
            units=[
                (
                    self.project.crates[root].name,
                    [keys.index(key) for key in closure(self.project, [root])],
                )
                for root in roots
            ],
            parts=[part.name for part in parts],
            output=output,
        )
        inputs = [library.path for library in crates]
        self._step(f"plan the partitions of {self.target.name}", argv, [output], inputs)
        return output

    def _libraries(self, keys: Iterable[str]) -> list[Library]:
        return [self.crates.library(key, "device", self.target.panic) for key in keys]

    def _named(self) -> dict[str, Any]:
        """Arguments about kernels that the project file names."""
        return {
            "exports": list(self.target.exports),
            "budgeted": self.target.budgeted,
            "places": [(name, str(place)) for name, place in self.target.places],
        }

    def _link(self, part: Part) -> None:
        target = self.target
        crates = self._libraries(closure(self.project, part.roots))
        sysroot = self.setting.sysroot_libs[target.panic]
        linking = {**part.linking, **target.questions, "engine": target.engine}
        linking["debug"] = target.code.get("debug", "line")
        named = self._named()
        if self.split:  # whether they are there is known when the manifests are merged
            linking["exports"] = named["exports"]
        else:
            linking |= named
        outputs = [part.module, part.manifest, part.link_report]
        if target.map:
            linking["map"] = f"{part.folder}/link.map"
            part.extras.append(linking["map"])
            outputs.append(linking["map"])
        argv = self.setting.recipe.link_argv(
            self.setting.tools,
            name=part.name,
            crates=[(library.crate.name, library.path) for library in crates],
            sysroot_libs=sysroot,
            output=part.module,
            manifest=part.manifest,
            report=part.link_report,
            **linking,
        )
        inputs = [library.path for library in crates] + [path for _, path in sysroot]
        inputs += [self.setting.tools.libdevice, *part.linked_inputs, *self._engine()]
        self._step(f"link {self._called(part)}", argv, outputs, inputs)

    def _called(self, part: Part) -> str:
        """A module's name for people."""
        return f"{self.target.name}, {part.name}" if self.split else self.target.name

    def _engine(self) -> list[str]:
        return [self.setting.tools.libllvm] if self.target.engine == "libllvm" else []

    def codegen_argv(self, part: Part, arch: Arch, output: str, **more: Any) -> list[str]:
        """CODEGEN of a module with all that the target says."""
        argv: list[str] = self.setting.recipe.codegen_argv(
            self.setting.tools,
            str(arch),
            part.module,
            part.manifest,
            output,
            engine=self.target.engine,
            **self.target.code,
            **more,
        )
        return argv

    def _codegen(self, part: Part, arch: Arch) -> str:
        output = f"{part.folder}/{arch}.ptx"
        more: dict[str, Any] = {}
        if self.target.remarks:
            more["remarks"] = f"{part.folder}/{arch}.remarks.yaml"
        if self.target.time_trace:
            more["time_trace"] = f"{part.folder}/{arch}.trace.json"
        extras = list(more.values())
        part.extras += extras
        if self.setting.temps == "lines":
            more["options"] = ["--number-places"]
        argv = self.codegen_argv(part, arch, output, **more)
        inputs = [part.module, part.manifest, *self._engine()]
        what = f"generate {self._called(part)} for {arch}"
        self._step(what, argv, [output, *extras], inputs)
        return output

    def _assemble(self, part: Part, arch: Arch) -> tuple[str, str]:
        kind = "relocatable.cubin" if self.target.relocatable else "cubin"
        output, report = f"{part.folder}/{arch}.{kind}", f"{part.folder}/{arch}.json"
        argv = self.setting.recipe.assemble_argv(
            self.setting.tools,
            str(arch),
            part.ptx[arch],
            output,
            report,
            options=list(self.target.ptxas_options),
            budgets=list(self.target.budgets),
            relocatable=self.target.relocatable,
            partial=self.split,
        )
        what = f"assemble {self._called(part)} for {arch}"
        self._step(what, argv, [output, report], [part.ptx[arch]])
        return output, report

    def _merge_manifests(self, parts: list[Part]) -> None:
        manifests = [part.manifest for part in parts]
        output = f"{self.base}.manifest.json"
        argv = self.setting.recipe.merge_manifests_argv(
            self.setting.tools,
            self.target.name,
            manifests,
            output,
            one_module=self.target.relocatable,
            **self._named(),
        )
        what = f"merge the manifests of {self.target.name}"
        self._step(what, argv, [output], manifests)

    def _module(self, parts: list[Part]) -> list[str]:
        """One fat binary of all parts, and what goes with it."""
        target, base = self.target, self.base
        manifest = f"{base}.manifest.json"
        images = parts[0].images()
        if target.relocatable:
            images = [
                (str(arch), ptx if arch.is_ptx else self._nvlink(parts, arch))
                for arch, ptx in parts[0].ptx.items()
            ]
        report, fatbin = f"{base}.report.json", f"{base}.fatbin"
        self._check(target.name, manifest, parts, images, report)
        self._pack(target.name, images, report, fatbin)
        objects = [self._embed(fatbin, host) for host in target.host]
        header = self._bindings(fatbin, manifest)
        return [fatbin, report, manifest, *objects, header]

    def _nvlink(self, parts: list[Part], arch: Arch) -> str:
        output = f"{self.base}/{arch}.cubin"
        cubins = [part.cubins[arch] for part in parts]
        argv = self.setting.recipe.nvlink_argv(self.setting.tools, str(arch), cubins, output)
        inputs = [*cubins, self.setting.tools.nvlink]
        self._step(f"link {self.target.name} for {arch}", argv, [output], inputs)
        return output

    def _modules(self, parts: list[Part]) -> list[str]:
        """A fat binary of each part, and what goes with them all."""
        target, base, recipe = self.target, self.base, self.setting.recipe
        fatbins, reports = [], []
        for part in parts:
            report, fatbin = f"{part.folder}/report.json", f"{base}.{part.name}.fatbin"
            self._check(self._called(part), part.manifest, [part], part.images(), report)
            self._pack(self._called(part), part.images(), report, fatbin)
            reports.append((part.name, report))
            fatbins.append((part.name, fatbin))
        manifest, report = f"{base}.manifest.json", f"{base}.report.json"
        argv = recipe.merge_reports_argv(self.setting.tools, target.name, reports, report)
        inputs = [path for _, path in reports]
        self._step(f"merge the reports of {target.name}", argv, [report], inputs)
        inputs = [path for _, path in fatbins] + [manifest]
        outputs = [path for _, path in fatbins] + [report, manifest]
        for host in target.host:
            outputs.append(f"{base}.{host}.o")
            argv = recipe.embed_parts_argv(
                self.setting.tools, fatbins, manifest, outputs[-1], host, target.symbol
            )
            self._step(f"embed {target.name} for {host}", argv, [outputs[-1]], inputs)
        outputs.append(f"{base}.h")
        argv = recipe.bindings_parts_argv(
            self.setting.tools, fatbins, manifest, target.symbol, outputs[-1]
        )
        self._step(f"write the header of {target.name}", argv, [outputs[-1]], inputs)
        return outputs

    def _check(
        self,
        what: str,
        manifest: str,
        parts: list[Part],
        images: list[tuple[str, str]],
        output: str,
    ) -> None:
        link_reports = [part.link_report for part in parts]
        assembled = [pair for part in parts for pair in part.assembled()]
        argv = self.setting.recipe.abi_check_argv(
            self.setting.tools,
            manifest=manifest,
            link_reports=link_reports,
            images=images,
            assemble_reports=assembled,
            report=output,
        )
        inputs = [manifest, *link_reports, *(path for _, path in (*assembled, *images))]
        self._step(f"check the ABI of {what}", argv, [output], inputs)

    def _pack(self, what: str, images: list[tuple[str, str]], report: str, output: str) -> None:
        """The ABI report is an input so that only checked images are packed."""
        argv = self.setting.recipe.pack_argv(
            self.setting.tools,
            images,
            output,
            compress=self.target.compress,
            allow=list(self.target.allow),
            deny=list(self.target.deny),
        )
        self._step(f"pack {what}", argv, [output], [report, *(path for _, path in images)])

    def _embed(self, fatbin: str, host: str) -> str:
        output = f"{self.base}.{host}.o"
        argv = self.setting.recipe.embed_argv(
            self.setting.tools, fatbin, output, host, self.target.symbol
        )
        self._step(f"embed {self.target.name} for {host}", argv, [output], [fatbin])
        return output

    def _bindings(self, fatbin: str, manifest: str) -> str:
        output = f"{self.base}.h"
        argv = self.setting.recipe.bindings_argv(
            self.setting.tools, fatbin, manifest, self.target.symbol, output
        )
        what = f"write the header of {self.target.name}"
        self._step(what, argv, [output], [fatbin, manifest])
        return output

    def _temps(self, part: Part) -> list[str]:
        """Every stage as a numbered file; adds the edges that only these need."""
        recipe, tools = self.setting.recipe, self.setting.tools
        folder = f"{part.folder}/temps"
        made: list[str] = []

        def add(name: str, argv: list[str], inputs: Iterable[str]) -> None:
            made.append(f"{folder}/{name}")
            self._step(f"write {made[-1]}", argv, [made[-1]], inputs)

        def copy(name: str, path: str) -> None:
            add(name, recipe.copy_argv(path, f"{folder}/{name}"), [path])

        for key in closure(self.project, part.roots):
            copy(f"0-{key}.mir", self.crates.library(key, "device", self.target.panic, "mir").path)
            rlib = self.crates.library(key, "device", self.target.panic).path
            name = f"1-{key}.compiled.ll"
            add(name, recipe.ir_argv(tools, [rlib], f"{folder}/{name}"), [rlib])
        argv = recipe.ir_argv(tools, [part.module], f"{folder}/2-linked.ll")
        add("2-linked.ll", argv, [part.module])
        for arch, text in part.ptx.items():
            name = f"3-{arch}.optimised.ll"
            argv = self.codegen_argv(part, arch, f"{folder}/{name}", options=["--emit", "llvm-ir"])
            add(name, argv, [part.module, part.manifest])
            copy(f"4-{arch}.ptx", text)
        for arch, cubin in part.cubins.items():
            copy(f"5-{arch}.cubin", cubin)
            if tools.nvdisasm:
                name = f"6-{arch}.sass"
                add(name, recipe.disassemble_argv(tools, cubin, f"{folder}/{name}"), [cubin])
        return made

    def _step(
        self, what: str, argv: list[str], outputs: Iterable[str], inputs: Iterable[str]
    ) -> None:
        """An edge that reads the toolchain's identity, as all steps after CRATE do."""
        self.graph.add("step", what, argv, outputs, [*inputs, self.setting.tools.identity])

"""Edges of targets: LINK, CODEGEN and ASSEMBLE for each arch, ABICHECK, PACK, EMBED."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace

from fatcrate.rules.ninja.crates import Crates
from fatcrate.rules.ninja.graph import Graph, Setting, closure, device_crates
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

    def add(self) -> None:
        """All edges, and the target's name."""
        target = self.target
        linked = self._link()
        ptx: dict[Arch, str] = {}
        cubins: dict[Arch, str] = {}
        reports: dict[Arch, str] = {}
        for arch in self.setting.archs[target.name]:
            ptx[arch] = self._codegen(linked, arch)
            if not arch.is_ptx:
                cubins[arch], reports[arch] = self._assemble(ptx[arch], arch)
        images = [(str(arch), cubins.get(arch, ptx[arch])) for arch in ptx]
        report = self._check(linked, images, reports)
        fatbin = self._pack(images, report)
        outputs = [fatbin, report, linked.manifest]
        outputs += [self._embed(fatbin, host) for host in target.host]
        outputs.append(self._bindings(fatbin, linked.manifest))
        if self.setting.temps:
            outputs += self._temps(linked, ptx, cubins)
        self.graph.names[target.name] = tuple(outputs)

    def _link(self) -> SimpleNamespace:
        target, base = self.target, self.base
        keys = closure(self.project, [dep.crate for dep in target.crates])
        crates = [self.crates.library(key, "device", target.panic) for key in keys]
        sysroot = self.setting.sysroot_libs[target.panic]
        linked = SimpleNamespace(
            module=f"{base}/linked.bc", manifest=f"{base}.manifest.json", report=f"{base}/link.json"
        )
        argv = self.setting.recipe.link_argv(
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

    def _codegen(self, linked: SimpleNamespace, arch: Arch) -> str:
        output = f"{self.base}/{arch}.ptx"
        argv = self.setting.recipe.codegen_argv(
            self.setting.tools,
            str(arch),
            linked.module,
            linked.manifest,
            output,
            opt_level=self.target.opt_level,
            options=self._codegen_options()
            + (["--number-places"] if self.setting.temps == "lines" else []),
        )
        inputs = [linked.module, linked.manifest]
        self._step(f"generate {self.target.name} for {arch}", argv, [output], inputs)
        return output

    def _codegen_options(self) -> list[str]:
        return ["--min-driver", self.target.min_driver] if self.target.min_driver else []

    def _temps(
        self, linked: SimpleNamespace, ptx: Mapping[Arch, str], cubins: Mapping[Arch, str]
    ) -> list[str]:
        """Every stage as a numbered file; adds the edges that only these need."""
        recipe, tools = self.setting.recipe, self.setting.tools
        folder = f"{self.base}/temps"
        made: list[str] = []

        def add(name: str, argv: list[str], inputs: Iterable[str]) -> None:
            made.append(f"{folder}/{name}")
            self._step(f"write {made[-1]}", argv, [made[-1]], inputs)

        def copy(name: str, path: str) -> None:
            add(name, recipe.copy_argv(path, f"{folder}/{name}"), [path])

        for key in closure(self.project, [dep.crate for dep in self.target.crates]):
            copy(f"0-{key}.mir", self.crates.library(key, "device", self.target.panic, "mir").path)
            rlib = self.crates.library(key, "device", self.target.panic).path
            name = f"1-{key}.compiled.ll"
            add(name, recipe.ir_argv(tools, [rlib], f"{folder}/{name}"), [rlib])
        argv = recipe.ir_argv(tools, [linked.module], f"{folder}/2-linked.ll")
        add("2-linked.ll", argv, [linked.module])
        for arch, text in ptx.items():
            name = f"3-{arch}.optimised.ll"
            argv = recipe.codegen_argv(
                tools,
                str(arch),
                linked.module,
                linked.manifest,
                f"{folder}/{name}",
                opt_level=self.target.opt_level,
                options=[*self._codegen_options(), "--emit", "llvm-ir"],
            )
            add(name, argv, [linked.module, linked.manifest])
            copy(f"4-{arch}.ptx", text)
        for arch, cubin in cubins.items():
            copy(f"5-{arch}.cubin", cubin)
            if tools.nvdisasm:
                name = f"6-{arch}.sass"
                add(name, recipe.disassemble_argv(tools, cubin, f"{folder}/{name}"), [cubin])
        return made

    def _assemble(self, ptx: str, arch: Arch) -> tuple[str, str]:
        output, report = f"{self.base}/{arch}.cubin", f"{self.base}/{arch}.json"
        argv = self.setting.recipe.assemble_argv(
            self.setting.tools,
            str(arch),
            ptx,
            output,
            report,
            options=list(self.target.ptxas_options),
            budgets=list(self.target.budgets),
        )
        self._step(f"assemble {self.target.name} for {arch}", argv, [output, report], [ptx])
        return output, report

    def _check(
        self,
        linked: SimpleNamespace,
        images: list[tuple[str, str]],
        reports: Mapping[Arch, str],
    ) -> str:
        output = f"{self.base}.report.json"
        argv = self.setting.recipe.abi_check_argv(
            self.setting.tools,
            manifest=linked.manifest,
            link_report=linked.report,
            images=images,
            assemble_reports=[(str(arch), path) for arch, path in reports.items()],
            report=output,
        )
        inputs = [linked.manifest, linked.report, *reports.values(), *(path for _, path in images)]
        self._step(f"check the ABI of {self.target.name}", argv, [output], inputs)
        return output

    def _pack(self, images: list[tuple[str, str]], report: str) -> str:
        """The ABI report is an input so that only checked images are packed."""
        output = f"{self.base}.fatbin"
        argv = self.setting.recipe.pack_argv(
            self.setting.tools, images, output, compress=self.target.compress
        )
        inputs = [report, *(path for _, path in images)]
        self._step(f"pack {self.target.name}", argv, [output], inputs)
        return output

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

    def _step(
        self, what: str, argv: list[str], outputs: Iterable[str], inputs: Iterable[str]
    ) -> None:
        """An edge that reads the toolchain's identity, as all steps after CRATE do."""
        self.graph.add("step", what, argv, outputs, [*inputs, self.setting.tools.identity])

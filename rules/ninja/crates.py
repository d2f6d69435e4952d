"""Edges of crates: the sysroot, build scripts, and rustc runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fatcrate.rules.ninja.graph import Check, Emit, Graph, Kind, Library, Setting, closure
from fatcrate.rules.ninja.model import Crate, Dep, Project, Script

#: What the BUILD SCRIPT step writes into its output folder; see ``rules/build_script.py``.
_FLAGS = "flags.json"
#: rustc's diagnostics of a checked crate, a JSON object in each line.
_DIAGNOSTICS = "diagnostics.json"


def _side(kind: Kind) -> Kind:
    """What the libraries are compiled as that a crate of that kind uses."""
    return "device" if kind == "device" else "host"


@dataclass
class Crates:
    """Adds the edges of crates to a graph as they are asked for."""

    project: Project
    setting: Setting
    graph: Graph
    libraries: dict[tuple[str, Kind, str, Emit], Library] = field(default_factory=dict)
    _sysroots: set[str] = field(default_factory=set)
    _scripts: set[str] = field(default_factory=set)

    def library(self, key: str, kind: Kind, panic: str, emit: Emit = "link") -> Library:
        """The crate compiled that way; adds its edge, and those it needs, when it is new."""
        crate = self.project.crates[key]
        if crate.proc_macro:
            kind = "proc-macro"
        if kind != "device":
            panic, emit = "", "link"
        known = self.libraries.get((key, kind, panic, emit))
        if known is None:
            known = Library(crate, kind, panic, self._path(crate, kind, panic, emit), emit)
            self.libraries[key, kind, panic, emit] = known
            self._compile(known)
        return known

    def sysroot(self, panic: str) -> list[str]:
        """Paths of the sysroot's libraries; adds the edge that builds them when it is new."""
        libraries = [path for _, path in self.setting.sysroot_libs[panic]]
        directory = self.setting.sysroots[panic]
        if directory and panic not in self._sysroots:
            self._sysroots.add(panic)
            argv = self.setting.recipe.sysroot_argv(self.setting.tools, directory, panic)
            what = f"build core and alloc for the GPU, panic={panic}"
            self.graph.add("sysroot", what, argv, libraries, [])
        return libraries

    def _path(self, crate: Crate, kind: Kind, panic: str, emit: Emit) -> str:
        """Each way of compiling has a folder of its own, since rustc finds crates by name."""
        if emit == "metadata":
            return self.setting.places.own(f"check/{crate.key}/lib{crate.name}.rmeta")
        folder = "crates"
        suffix = "so" if kind == "proc-macro" else "rlib"
        if emit == "mir":
            suffix = "mir"
        if kind == "host":
            folder = "crates-host"
        elif panic not in ("", "immediate-abort"):
            folder = f"crates-{panic}"
        return f"{self.setting.places.out}/{folder}/{crate.key}/lib{crate.name}.{suffix}"

    def _needed(
        self, deps: Iterable[Dep], kind: Kind, panic: str, emit: Emit = "link"
    ) -> list[Library]:
        """What rustc reads of the crates that ``deps`` stand for: all transitive libraries,
        and proc macros without what is linked into them."""
        order: dict[str, None] = {}
        for direct in deps:
            if self.project.crates[direct.crate].proc_macro:
                order.setdefault(direct.crate)
                continue
            for key in closure(self.project, [direct.crate]):
                for dep in self.project.crates[key].deps:
                    if self.project.crates[dep.crate].proc_macro:
                        order.setdefault(dep.crate)
                order.setdefault(key)
        return [self.library(key, kind, panic, emit) for key in order]

    def _externs(
        self, deps: Iterable[Dep], kind: Kind, panic: str, emit: Emit = "link"
    ) -> list[tuple[str, str]]:
        """(extern name, path) of direct dependencies."""
        return [
            (
                dep.extern or self.project.crates[dep.crate].name,
                self.library(dep.crate, kind, panic, emit).path,
            )
            for dep in deps
        ]

    def _compile(self, library: Library) -> None:
        """The rustc run that makes a library."""
        crate, setting, panic = library.crate, self.setting, library.panic
        side = _side(library.kind)
        emit: Emit = "metadata" if library.emit == "metadata" else "link"  # of what it needs
        needed = self._needed(crate.deps, side, panic, emit)
        script = self._script(library)
        argv = setting.recipe.crate_argv(
            setting.tools,
            name=crate.name,
            source=crate.source,
            output=library.path,
            metadata=setting.recipe.crate_metadata(
                crate.origin, list(crate.features), list(crate.cfgs)
            ),
            kind=library.kind,
            edition=crate.edition,
            sysroot=setting.sysroots.get(panic, ""),
            panic=panic,
            opt_level=crate.opt_level,
            debug="line-tables-only" if setting.temps == "lines" else crate.debug,
            deps=self._externs(crate.deps, side, panic, emit),
            dep_dirs=list(dict.fromkeys(other.folder for other in needed)),
            features=list(crate.features),
            cfgs=list(crate.cfgs),
            env=sorted(crate.env),
            remaps=list(crate.remaps),
            rustc_flags=[*crate.rustc_flags, *self._mir_flags(library)],
            manifest_dir=crate.manifest_dir,
            build_script=script,
            options=[*setting.depfile(library.path), *self._check_options(library)],
        )
        inputs = [crate.source, setting.stamps["rustc"], *(other.path for other in needed)]
        inputs += [f"{script}/{_FLAGS}"] if script else []
        if library.emit == "mir":  # after compiling, so that errors are told once
            inputs.append(self.library(crate.key, library.kind, panic).path)
        inputs += self.sysroot(panic) if library.kind == "device" else [setting.stamps["host"]]
        verb = {"metadata": "check", "mir": "write the MIR of"}.get(library.emit, "compile")
        where = "" if library.kind == "device" else " for this machine"
        outputs = [library.path]
        if library.emit == "metadata":
            diagnostics = f"{library.folder}/{_DIAGNOSTICS}"
            outputs.append(diagnostics)
            needs = tuple(other.crate.key for other in needed)
            self.graph.checks[crate.key] = Check(library.path, diagnostics, tuple(argv), needs)
        self.graph.add("crate", f"{verb} {crate.key}{where}", argv, outputs, inputs)

    def _check_options(self, library: Library) -> list[str]:
        if library.emit == "link":
            return []
        if library.emit == "mir":
            return ["--emit", "mir"]
        return ["--emit", "metadata", "--diagnostics", f"{library.folder}/{_DIAGNOSTICS}"]

    def _mir_flags(self, library: Library) -> list[str]:
        """Source places of statements, and no warnings that compiling tells as well."""
        if library.emit != "mir":
            return []
        spans = ["-Zmir-include-spans=on"] if self.setting.temps == "lines" else []
        return [*spans, "--cap-lints=allow"]

    def _script(self, library: Library) -> str:
        """Folder with the results of the crate's build script; adds its edges. "" for none."""
        crate, setting = library.crate, self.setting
        if crate.script is None:
            return ""
        # Checking a crate shares the results with compiling it.
        folder = self._path(crate, library.kind, library.panic, "link").rpartition("/")[0]
        folder += "/script"
        flags = f"{folder}/{_FLAGS}"
        if flags in self._scripts:
            return folder
        self._scripts.add(flags)
        program = self._program(crate, crate.script)
        device = library.kind == "device"
        linked = []
        for dep in crate.deps:
            other = self.project.crates[dep.crate]
            if other.script is not None and other.script.links:
                made = self.library(other.key, _side(library.kind), library.panic)
                linked.append((other.script.links, f"{made.folder}/script"))
        argv = setting.recipe.build_script_argv(
            setting.tools,
            program,
            manifest_dir=crate.manifest_dir,
            output=folder,
            kind=library.kind,
            sysroot=setting.sysroots[library.panic] if device else "",
            env=sorted(crate.env),
            features=list(crate.features),
            links=crate.script.links,
            deps=linked,
            opt_level=crate.opt_level,
            debug=crate.debug,
            options=setting.depfile(flags),
        )
        inputs = [program, setting.stamps["host"], *(f"{path}/{_FLAGS}" for _, path in linked)]
        inputs += self.sysroot(library.panic) if device else []
        self.graph.add("crate", f"run the build script of {crate.key}", argv, [flags], inputs)
        return folder

    def _program(self, crate: Crate, script: Script) -> str:
        """The compiled build script, one for all ways in which the crate is compiled."""
        setting = self.setting
        output = f"{setting.places.out}/crates-host/{crate.key}/build-script"
        if output in self._scripts:
            return output
        self._scripts.add(output)
        needed = self._needed(script.deps, "host", "")
        argv = setting.recipe.crate_argv(
            setting.tools,
            name="build_script_build",
            source=script.source,
            output=output,
            metadata=setting.recipe.crate_metadata(script.source, list(crate.features)),
            kind="program",
            edition=script.edition,
            deps=self._externs(script.deps, "host", ""),
            dep_dirs=list(dict.fromkeys(library.folder for library in needed)),
            features=list(crate.features),
            env=sorted(crate.env),
            rustc_flags=[flag for flag in crate.rustc_flags if flag.startswith("--cap-lints")],
            manifest_dir=crate.manifest_dir,
            options=setting.depfile(output),
        )
        inputs = [script.source, setting.stamps["rustc"], setting.stamps["host"]]
        inputs += [library.path for library in needed]
        what = f"compile the build script of {crate.key}"
        self.graph.add("crate", what, argv, [output], inputs)
        return output

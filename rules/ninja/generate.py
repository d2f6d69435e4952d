"""From the project file to the graph: reads it, resolves archs, lays out the toolchain."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from types import SimpleNamespace

from fatcrate.rules import errors, recipe, sysroot
from fatcrate.rules.ninja import archs, project, targets
from fatcrate.rules.ninja.graph import Graph, Setting
from fatcrate.rules.ninja.model import Crate, Project, Target
from fatcrate.rules.ninja.places import Places
from fatcrate.rules.ninja.plan import HERE, Options, cache_folder
from fatcrate.rules.ninja.yamlfile import LARGEST_FILE
from fatcrate.toolchain import names
from fatcrate.toolchain.arch import Arch
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, FatcrateError, fail
from fatcrate.toolchain.discover import Tools

GET_NVLINK = "pip install nvidia-cuda-nvcc, or a CUDA toolkit"
GET_LIBLLVM = "use a rustc that loads libLLVM as a shared library, or 'engine: llvmlite'"


@dataclass(frozen=True)
class Planned:
    """The graph, and small files that its edges read: path -> text."""

    graph: Graph
    target_crates: dict[str, list[str]]  # target -> keys of its crates
    files: dict[str, str]


def read_project(places: Places, file: str, probes: dict[str, bool]) -> Project:
    """The project of project file ``file``, with the device library among its crates.

    ``probes`` receives every path whose presence was asked for, with the answer.
    """
    return _project(places, file, _device_crate(recipe.load(), places.root), probes)


def graph(
    places: Places,
    file: str,
    tools: Tools,
    options: Options,
    step: list[str],
    probes: dict[str, bool],
) -> Planned:
    """Plans the build of project file ``file``. ``step`` starts a step."""
    steps = recipe.load()
    found = read_project(places, file, probes)
    resolved = _archs(found, tools, options)
    stamps = _stamps(places, tools)
    setting = Setting(
        recipe=steps,
        tools=SimpleNamespace(
            step=step,
            rustc=tools.rustc,
            rust_src=tools.rust_src,
            host_linker=tools.host_linker,
            ptxas=tools.ptxas,
            libdevice=tools.libdevice,
            nvdisasm=tools.nvdisasm,
            nvlink=tools.nvlink,
            libllvm=tools.libllvm,
            identity=places.own("toolchain.json"),
        ),
        places=places,
        stamps={name: places.own(f"{name}.json") for name in ("rustc", "host")},
        archs=resolved,
        sysroots=_sysroots(places, tools),
        sysroot_libs=_sysroot_libraries(places, tools, steps),
        temps=options.temps,
    )
    crates = {name: [dep.crate for dep in target.crates] for name, target in found.targets.items()}
    return Planned(targets.build(found, setting), crates, stamps)


def _device_crate(steps: SimpleNamespace, root: str) -> Crate:
    """The device library. Below the project root its path is relative, as that of all sources
    there: rustc would prefer the root to a longer prefix that is to be replaced."""
    crate = steps.device_crate(f"{HERE}/toolchain/device".removeprefix(f"{root}/"))
    return Crate(
        key=crate.name,
        name=crate.name,
        source=crate.source,
        origin=crate.origin,
        edition=crate.edition,
        remaps=tuple(crate.remaps),
    )


def _project(places: Places, file: str, device: Crate, probes: dict[str, bool]) -> Project:
    path = places.absolute(file)
    try:
        with open(path, encoding="utf-8-sig") as stream:
            _small(os.fstat(stream.fileno()).st_size, file)
            text = stream.read()
    except UnicodeDecodeError as error:
        fail(errors.NOT_YAML, file, f"is not UTF-8 text (byte {error.start})")

    def exists(source: str) -> bool:
        probes[source] = os.path.isfile(places.absolute(source))
        return probes[source]

    found = project.load(text, file, places.root, exists, [device])
    _apart(places, found)
    return found


def _small(size: int, file: str) -> None:
    """Raises FC0131 for a file that no project has."""
    if size > LARGEST_FILE:
        fail(
            errors.LARGE_FILE,
            file,
            f"has {size} bytes; a project file has at most {LARGEST_FILE}",
            remedy="is it a project file? Otherwise divide the project",
        )


def _apart(places: Places, found: Project) -> None:
    """Sources do not lie in the output folder, which version control ignores."""
    for crate in found.crates.values():
        if places.absolute(crate.source).startswith(places.folder.rstrip("/") + "/"):
            fail(
                errors.BAD_OUTPUT_FOLDER,
                places.out,
                f"holds the sources of crate '{crate.key}'",
                remedy="choose a folder of its own for outputs",
                location=crate.location,
            )


def _archs(found: Project, tools: Tools, options: Options) -> dict[str, list[Arch]]:
    """The archs of each target; those of the command line outrank them all."""
    faults = Collector()
    words = " ".join(options.archs).replace(",", " ").split()
    if options.archs and not words:
        remedy = "as in --archs sm_90,compute_90; without it those of the project file are built"
        fail(errors.USAGE, "--archs", "must name at least one arch", remedy=remedy)
    told = archs.resolve(((text, None) for text in words), tools.identity, faults)
    resolved = {
        name: told if options.archs else archs.resolve(target.archs, tools.identity, faults)
        for name, target in found.targets.items()
    }
    for name, target in found.targets.items():
        _driver(target, resolved[name], tools, faults)
        _able(target, resolved[name], tools, faults)
    faults.check()
    return resolved


def _driver(target: Target, resolved: list[Arch], tools: Tools, faults: Collector) -> None:
    """Adds FC0236 for each arch that the target's driver would not load."""
    for arch in resolved if target.min_driver else ():
        try:
            tools.identity.ptx_isa_for(arch, int(target.min_driver))
        except FatcrateError as error:
            for fault in error.diagnostics:
                faults.add(fault._replace(location=target.min_driver_at))


def _able(target: Target, resolved: list[Arch], tools: Tools, faults: Collector) -> None:
    """Adds a fault for each tool that the target needs and the machine lacks, and for PTX of
    partitions that are to be one image: only machine code can be linked."""
    for key, needed, path, where, remedy in (
        ("relocatable", target.relocatable, tools.nvlink, target.relocatable_at, GET_NVLINK),
        ("engine", target.engine == "libllvm", tools.libllvm, target.engine_at, GET_LIBLLVM),
    ):
        if needed and not path:
            tool = "nvlink is not beside ptxas" if key == "relocatable" else "rustc has no libLLVM"
            subject = f"kernels.{target.name}.{key}"
            faults.add(Diagnostic(errors.NO_TOOL, subject, tool, remedy, where))
    several = len(target.partitions) > 1 or target.auto_partitions > 1
    ptx = [str(arch) for arch in resolved if arch.is_ptx]
    if target.relocatable and several and ptx:
        faults.add(
            Diagnostic(
                errors.BAD_VALUE,
                f"kernels.{target.name}.archs",
                f"{ptx[0]} is PTX, which cannot be linked from relocatable partitions",
                "leave it out, or 'relocatable', or 'partitions'",
                target.relocatable_at,
            )
        )


def _stamps(places: Places, tools: Tools) -> dict[str, str]:
    """Files that change with the tools: all of them, rustc alone, what makes proc macros."""
    identity = tools.identity
    rustc = {"rustc": identity.rustc._asdict()}
    host = {**rustc, "host_linker": identity.host_linker._asdict()}
    return {
        places.own("toolchain.json"): identity.to_json(),
        places.own("rustc.json"): json.dumps(rustc, indent=2, sort_keys=True) + "\n",
        places.own("host.json"): json.dumps(host, indent=2, sort_keys=True) + "\n",
    }


def _sysroots(places: Places, tools: Tools) -> dict[str, str]:
    """Panic strategy -> sysroot; "" where rustc brings the target's libraries itself."""
    if tools.prebuilt:
        return dict.fromkeys(names.PANIC_STRATEGIES, "")
    return {
        panic: f"{cache_folder(places)}/{sysroot.cache_key(tools.identity, panic)}"
        for panic in names.PANIC_STRATEGIES
    }


def _sysroot_libraries(
    places: Places, tools: Tools, steps: SimpleNamespace
) -> dict[str, list[tuple[str, str]]]:
    """Panic strategy -> (crate, path of its rlib), in link order."""
    found: dict[str, list[tuple[str, str]]] = {}
    for panic, directory in _sysroots(places, tools).items():
        if directory:
            paths = steps.sysroot_outputs(directory)
        else:
            paths = [_prebuilt(tools.prebuilt, crate) for crate in names.SYSROOT_CRATES]
        found[panic] = list(zip(names.SYSROOT_CRATES, paths, strict=True))
    return found


def _prebuilt(folder: str, crate: str) -> str:
    """The rlib of a crate of rustup's target, whose name ends in a hash."""
    for name in sorted(os.listdir(folder)):
        if name.startswith(f"lib{crate}-") and name.endswith(".rlib"):
            return f"{folder}/{name}"
    fail(
        errors.NO_TOOL,
        folder,
        f"the prebuilt target has no library of crate '{crate}'",
        remedy="rustup component add rust-src",
    )

"""Describes this machine's toolchain to Bazel's repository rules (``repository.bzl``).

Run by those rules with a Python that has the packages of the steps; prints one JSON object,
either ``{"faults": [TEXT…]}`` or a :class:`Machine`.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec

from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.discover import Tools, discover
from fatcrate.toolchain.identity import Fatcrate, HostLinker, Libdevice, Llvm, Ptxas, Python
from fatcrate.toolchain.probe import SOURCE_PARTS, driver_libraries

#: Packages that the steps import, by the fatcrate package that needs them.
STEP_PACKAGES = {"lto": ("llvmlite",), "fatbin": ("elftools", "msgpack", "zstandard")}


@dataclass(frozen=True)
class Machine:
    """What the repository rules link to. Paths are absolute.

    ``files``: name below the repository -> path; a change of one of them runs the rules
    again. ``folders`` likewise, for folders; ``source_parts`` are those of ``rust_src`` that
    the sysroot step reads. ``identity`` is ``toolchain.json`` but for the digest of fatcrate
    itself: Bazel knows the steps' sources as inputs. ``rust_identity`` is what of it concerns
    the sysroot, which another ptxas or llvmlite must not build anew. ``constraints`` are those
    of the platforms that can run the tools. ``optional``: attribute of the toolchain -> name
    among ``files``, for tools that are there.
    """

    files: dict[str, str]
    folders: dict[str, str]
    source_parts: list[str]
    packages: dict[str, list[str]]
    identity: str
    rust_identity: str
    cubin_archs: list[str]
    ptx_archs: list[str]
    constraints: list[str]
    optional: dict[str, str]


def describe(tools: Tools, python: str) -> Machine:
    """The machine whose tools are ``tools``; ``python`` is the interpreter of the steps."""
    files = {
        "python/python3": os.path.realpath(python),
        "rustc/rustc": tools.rustc,
        "host_linker/" + os.path.basename(tools.host_linker): tools.host_linker,
        "cuda/ptxas": tools.ptxas,
        "cuda/libdevice.10.bc": tools.libdevice,
    }
    for library in driver_libraries(tools.rustc):
        files[f"rustc/lib/{os.path.basename(library)}"] = os.path.realpath(library)
    optional = {}
    if tools.nvlink:
        files["cuda/nvlink"] = tools.nvlink
        optional["nvlink"] = "cuda/nvlink"
    if tools.libllvm:
        optional["libllvm"] = f"rustc/lib/{os.path.basename(tools.libllvm)}"
    folders = {"rust_src": tools.rust_src} if tools.rust_src else {"prebuilt": tools.prebuilt}
    for names in STEP_PACKAGES.values():
        folders.update({f"packages/{name}": _package(name) for name in names})
    identity = tools.identity
    fatcrate = identity.fatcrate._replace(sha256="")
    return Machine(
        files=files,
        folders=folders,
        source_parts=list(SOURCE_PARTS) if tools.rust_src else [],
        packages={owner: list(names) for owner, names in STEP_PACKAGES.items()},
        identity=identity._replace(fatcrate=fatcrate).to_json(),
        rust_identity=identity._replace(
            llvm=Llvm("", "", [], ""),
            ptxas=Ptxas("", "", [], ""),
            libdevice=Libdevice(""),
            host_linker=HostLinker("", ""),
            python=Python(""),
            fatcrate=Fatcrate("", ""),
        ).to_json(),
        cubin_archs=identity.buildable("sm"),
        ptx_archs=identity.llvm.archs,
        constraints=constraints(identity.rustc.host),
        optional=optional,
    )


def constraints(triple: str) -> list[str]:
    """Labels of CPU and operating system of a Rust host triple; what has no label is left out."""
    cpu, _, rest = triple.partition("-")
    cpus = {"aarch64": "aarch64", "x86_64": "x86_64"}
    systems = {"darwin": "macos", "linux": "linux"}
    found = [f"@platforms//cpu:{cpus[cpu]}"] if cpu in cpus else []
    return found + [f"@platforms//os:{systems[s]}" for s in rest.split("-") if s in systems]


def _package(name: str) -> str:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"the Python package {name} is not installed", name=name)
    return spec.submodule_search_locations[0]


def main() -> int:
    """Prints the description of the machine; always 0, faults are part of the answer."""
    try:
        answer = dataclasses.asdict(describe(discover(), sys.executable))
    except FatcrateError as error:
        answer = {"faults": [diagnostic.render() for diagnostic in error.diagnostics]}
    except ImportError as error:
        answer = {"faults": [f"{sys.executable}: {error}"]}
    print(json.dumps(answer, sort_keys=True))
    return 0

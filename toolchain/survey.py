"""Locates, probes and checks every tool; the slow path behind :mod:`discover`."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec

import fatcrate
from fatcrate.toolchain import compat, errors, locate, probe
from fatcrate.toolchain.diagnostics import Diagnostic, FatcrateError
from fatcrate.toolchain.discover import Survey
from fatcrate.toolchain.identity import (
    Fatcrate,
    HostLinker,
    Identity,
    Libdevice,
    Llvm,
    Ptxas,
    Python,
    Rustc,
    RustSrc,
)
from fatcrate.toolchain.locate import Request, RustCandidate, Watch

GET_RUST = "apt-get install rustc-web rust-web-src"
GET_PTXAS = "pip install nvidia-cuda-nvcc"
GET_LIBDEVICE = "pip install nvidia-nvvm"
GET_HOST_LINKER = "apt-get install gcc"
GET_LLVM = "pip install 'llvmlite>=0.50,<0.51'"
GET_NVDISASM = "pip install nvidia-cuda-nvdisasm"
GET_CUOBJDUMP = "pip install nvidia-cuda-cuobjdump"
GET_CARGO = "apt-get install cargo-web"

#: Packages that shape output bytes (compression) besides llvmlite, which has its own entry.
_PYTHON_PACKAGES = ("zstandard",)


def survey(watch: Watch, request: Request, own_digest: str) -> Survey:
    """Finds what there is. Faults are gathered in the result, never raised."""
    result = Survey()
    llvm = _llvm(watch, request, result)
    rust = _rust(watch, request, result, llvm)
    ptxas = _ptxas(watch, request, result)
    libdevice = _libdevice(watch, request, result)
    linker = _host_linker(watch, request, result)
    _optional(watch, request, result)
    result.found("python", request.python, platform.python_version(), "the running interpreter")
    if llvm and rust and ptxas and libdevice and linker and not result.faults:
        result.identity = Identity(
            rustc=rust[0],
            rust_src=rust[1],
            llvm=llvm,
            ptxas=ptxas,
            libdevice=libdevice,
            host_linker=linker,
            python=Python(platform.python_version(), _package_versions()),
            fatcrate=Fatcrate(fatcrate.__version__, own_digest),
        )
    return result


def _missing(result: Survey, tool: str, message: str, remedy: str, *notes: str) -> None:
    result.faults.append(
        Diagnostic(errors.MISSING_TOOL, tool, message, remedy=remedy, notes=tuple(notes))
    )


def _package_versions() -> dict[str, str]:
    versions = {}
    for name in _PYTHON_PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = ""
    return versions


def _llvm(watch: Watch, request: Request, result: Survey) -> Llvm | None:
    spec = find_spec("llvmlite")
    if spec is None or not spec.origin:
        _missing(result, "llvmlite", "is not installed for this Python", GET_LLVM)
        return None
    folder = os.path.dirname(spec.origin)
    watch.exists(f"{folder}/binding/libllvmlite.so")
    try:
        llvm = probe.llvm(request.python)
    except FatcrateError as error:
        result.rejected("llvm", folder, "PyPI llvmlite", *error.diagnostics)
        return None
    result.found("llvm", folder, llvm.version, f"PyPI {llvm.package}")
    return llvm


def _rust(
    watch: Watch, request: Request, result: Survey, llvm: Llvm | None
) -> tuple[Rustc, RustSrc] | None:
    """The first rustc that fits; every other one's fault is a note when none does."""
    rejected: list[Diagnostic] = []
    candidates = _rust_candidates(watch, request, result)
    if candidates is None:
        return None
    for candidate in candidates:
        faults, rust = _try_rust(watch, candidate, request, llvm)
        if rust is not None and not faults:
            _found_rust(result, candidate, rust)
            return rust
        rejected.extend(faults)
    if not candidates:
        _missing(result, "rustc", "is not installed", GET_RUST)
    elif len(candidates) == 1:
        _rejected_rust(result, candidates[0], rejected)
    else:
        notes = [f"{d.subject}: {d.message} ({d.remedy})" for d in rejected]
        _missing(
            result, "rustc", "none of the installed ones can build device code", GET_RUST, *notes
        )
    return None


def _rejected_rust(result: Survey, candidate: RustCandidate, faults: list[Diagnostic]) -> None:
    """The only rustc does not do: says whether for itself or for want of its sources."""
    if candidate.rust_src or candidate.prebuilt:
        result.rejected("rustc", candidate.rustc, candidate.provenance, *faults)
        name = "rust_src" if candidate.rust_src else "prebuilt"
        library = candidate.rust_src or candidate.prebuilt
        result.found(name, library, _release_of(candidate), candidate.provenance)
    else:
        result.found("rustc", candidate.rustc, "", candidate.provenance)
        result.faults.extend(faults)


def _release_of(candidate: RustCandidate) -> str:
    return probe.source_version(candidate.rust_src) if candidate.rust_src else ""


def _rust_candidates(watch: Watch, request: Request, result: Survey) -> list[RustCandidate] | None:
    """The rustc that the user named, or all installed: with sources first, then prebuilt."""
    if not request.rustc:
        found = list(locate.rust_candidates(watch, request))
        return [c for c in found if c.rust_src] + [c for c in found if not c.rust_src]
    if not watch.executable(request.rustc):
        _missing(
            result,
            "rustc",
            f"FATCRATE_RUSTC names {request.rustc}, which is not an executable file",
            "correct FATCRATE_RUSTC, or unset it to let fatcrate look for one",
        )
        return None
    try:
        sysroot = probe.rustc_sysroot(request.rustc)
    except FatcrateError as error:
        result.rejected("rustc", request.rustc, "FATCRATE_RUSTC", *error.diagnostics)
        return None
    own = f"{sysroot}/bin/rustc"
    proxied = _is_rustup(request.rustc) and watch.executable(own)
    rustc = own if proxied else os.path.abspath(request.rustc)
    return [locate.rust_in(watch, rustc, sysroot, request.rust_src, "FATCRATE_RUSTC")]


def _is_rustup(path: str) -> bool:
    """Whether this is a rustup proxy: rustup itself under rustc's name.

    It stands for the toolchain's own rustc, which unlike it depends on no setting.
    """
    real = os.path.realpath(path)
    if os.path.basename(real).startswith("rustup"):
        return True
    try:
        return os.path.samefile(real, os.path.join(os.path.dirname(real), "rustup"))
    except OSError:
        return False


def _try_rust(
    watch: Watch, candidate: RustCandidate, request: Request, llvm: Llvm | None
) -> tuple[list[Diagnostic], tuple[Rustc, RustSrc] | None]:
    if not candidate.rust_src and not candidate.prebuilt:
        return [_no_library(candidate)], None
    try:
        rustc = probe.rustc(candidate.rustc, _driver_libraries(watch, candidate))
    except FatcrateError as error:
        return list(error.diagnostics), None
    checks = [compat.check_rustc(rustc.version)]
    if llvm is not None:
        checks.append(
            compat.check_llvm(rustc.llvm, llvm.version, allow_untested=request.allow_untested_llvm)
        )
    if candidate.rust_src:
        checks.append(_check_source(candidate, rustc))
    faults = [fault for fault in checks if fault is not None]
    if faults:
        return faults, None
    if candidate.rust_src:
        digest = probe.tree_sha256(candidate.rust_src, probe.SOURCE_PARTS)
        return [], (rustc, RustSrc(rustc.version, digest, "source"))
    return [], (rustc, RustSrc(rustc.version, _prebuilt_digest(watch, candidate), "prebuilt"))


def _driver_libraries(watch: Watch, candidate: RustCandidate) -> list[str]:
    """The compiler proper; behind a wrapper script, that of the sysroot."""
    for rustc in (candidate.rustc, f"{candidate.sysroot}/bin/rustc"):
        if watch.executable(rustc) and (found := probe.driver_libraries(rustc)):
            for path in found:
                watch.exists(path)
            return found
    return []


def _no_library(candidate: RustCandidate) -> Diagnostic:
    # Only rustup keeps its channel's manifest there.
    manifest = f"{candidate.sysroot}/lib/rustlib/multirust-channel-manifest.toml"
    if candidate.provenance.startswith("rustup ") or os.path.exists(manifest):
        name = os.path.basename(candidate.sysroot)
        remedy = f"rustup component add rust-src --toolchain {name}"
    elif candidate.provenance.startswith("Debian"):
        remedy = "apt-get install rust-web-src"
    else:
        remedy = "set FATCRATE_RUST_SRC to the folder `library` of its sources"
    return Diagnostic(
        errors.MISSING_TOOL,
        f"rust-src ({candidate.provenance})",
        "the sources of `core` that belong to this rustc are missing, and so is a prebuilt"
        " nvptx64-nvidia-cuda target",
        remedy=remedy,
    )


def _check_source(candidate: RustCandidate, rustc: Rustc) -> Diagnostic | None:
    version = probe.source_version(candidate.rust_src)
    if not version or probe.same_release(version, rustc.version):
        return None
    return Diagnostic(
        errors.INCOMPATIBLE,
        "rust-src",
        f"is of release {version}, rustc ({candidate.provenance}) of {rustc.version}",
        remedy=f"install both from one place, for example: {GET_RUST}",
    )


def _prebuilt_digest(watch: Watch, candidate: RustCandidate) -> str:
    rlibs = [n for n in watch.names(candidate.prebuilt) if n.endswith(".rlib")]
    paths = [f"{candidate.prebuilt}/{name}" for name in rlibs]
    for path in paths:
        watch.exists(path)
    return probe.sha256(*paths)


def _found_rust(result: Survey, candidate: RustCandidate, rust: tuple[Rustc, RustSrc]) -> None:
    rustc, source = rust
    result.found("rustc", candidate.rustc, rustc.version, candidate.provenance)
    result.paths["sysroot"] = candidate.sysroot
    name = "rust_src" if source.kind == "source" else "prebuilt"
    where = candidate.provenance.replace("rustc-web", "rust-web-src")
    result.found(name, candidate.rust_src or candidate.prebuilt, source.version, where)


@dataclass(frozen=True)
class _CudaFile:
    """A file of a CUDA root: what it is called, the variable that names it, where it lies."""

    name: str
    variable: str
    folder: str
    file: str
    get: str


def _cuda(watch: Watch, request: Request, folder: str, name: str) -> tuple[str, str] | None:
    """The first CUDA root that has ``name``: (path, provenance)."""
    for root in locate.cuda_roots(watch, request):
        path = f"{getattr(root, folder)}/{name}"
        if watch.exists(path) and os.path.isfile(path):
            return path, root.provenance
    return None


def _wheel(provenance: str, package: str) -> str:
    """Names the wheel and its release where a tool came from one."""
    if provenance != "PyPI":
        return provenance
    try:
        return f"PyPI {package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"PyPI {package}"


def _explicit(
    watch: Watch, result: Survey, tool: str, variable: str, path: str
) -> tuple[str, str] | None:
    if watch.exists(path) and os.path.isfile(path):
        return os.path.abspath(path), variable
    _missing(
        result,
        tool,
        f"{variable} names {path}, which is not a file",
        f"correct {variable}, or unset it to let fatcrate look for one",
    )
    return None


def _cuda_file(
    watch: Watch, request: Request, result: Survey, tool: _CudaFile, chosen: str
) -> tuple[str, str] | None:
    """Path and provenance of one of CUDA's files, as ``chosen`` or from the first root with it."""
    if chosen:
        return _explicit(watch, result, tool.name, tool.variable, chosen)
    place = _cuda(watch, request, tool.folder, tool.file)
    if place is None:
        _missing(result, tool.name, "is not installed", f"{tool.get}, or a CUDA toolkit")
    return place


def _ptxas(watch: Watch, request: Request, result: Survey) -> Ptxas | None:
    tool = _CudaFile("ptxas", "FATCRATE_PTXAS", "binaries", "ptxas", GET_PTXAS)
    place = _cuda_file(watch, request, result, tool, request.ptxas)
    if place is None:
        return None
    try:
        ptxas = probe.ptxas(place[0])
    except FatcrateError as error:
        result.rejected("ptxas", place[0], place[1], *error.diagnostics)
        return None
    result.found("ptxas", place[0], ptxas.version, _wheel(place[1], "nvidia-cuda-nvcc"))
    return ptxas


def _libdevice(watch: Watch, request: Request, result: Survey) -> Libdevice | None:
    tool = _CudaFile(
        "libdevice", "FATCRATE_LIBDEVICE", "libdevice", "libdevice.10.bc", GET_LIBDEVICE
    )
    place = _cuda_file(watch, request, result, tool, request.libdevice)
    if place is None:
        return None
    digest = probe.sha256(place[0])
    result.found("libdevice", place[0], digest[:12], _wheel(place[1], "nvidia-nvvm"))
    return Libdevice(digest)


def _host_linker(watch: Watch, request: Request, result: Survey) -> HostLinker | None:
    place: tuple[str, str] | None = None
    if request.host_linker:
        place = _explicit(watch, result, "host linker", "FATCRATE_HOST_LINKER", request.host_linker)
        if place is None:
            return None
    else:
        for path, provenance in locate.host_linkers(request):
            if watch.executable(path):
                place = (path, provenance)
                break
        if place is None:
            _missing(
                result,
                "host linker",
                "no C compiler (cc, gcc, clang) is on PATH; proc-macro crates need one",
                GET_HOST_LINKER,
            )
            return None
    try:
        linker = probe.host_linker(place[0])
    except FatcrateError as error:
        result.rejected("host_linker", place[0], place[1], *error.diagnostics)
        return None
    result.found("host_linker", place[0], linker.version, place[1])
    return linker


def _optional(watch: Watch, request: Request, result: Survey) -> None:
    """Tools that only some targets, reports and tests use."""
    _beside(watch, result)
    for name in ("nvdisasm", "cuobjdump"):
        place = _cuda(watch, request, "binaries", name)
        if place is not None:
            result.found(name, place[0], "", _wheel(place[1], f"nvidia-cuda-{name}"))
    _cargo(watch, request, result)


def _beside(watch: Watch, result: Survey) -> None:
    """What belongs to tools that were found: ptxas's linker, and rustc's LLVM."""
    ptxas, rustc = result.paths.get("ptxas", ""), result.paths.get("rustc", "")
    nvlink = os.path.join(os.path.dirname(ptxas), "nvlink")
    if ptxas and watch.executable(nvlink):
        result.found("nvlink", nvlink, "", result.provenance["ptxas"])
    for path in probe.driver_libraries(rustc) if rustc else ():
        if os.path.basename(path).startswith("libLLVM") and watch.exists(path):
            result.found("libllvm", path, "", result.provenance["rustc"])


def _cargo(watch: Watch, request: Request, result: Survey) -> None:
    """Cargo, which only `fatcrate import` runs: the one beside rustc, else the first on PATH."""
    if request.cargo:
        place = _explicit(watch, result, "cargo", "FATCRATE_CARGO", request.cargo)
        if place is not None:
            result.found("cargo", place[0], "", place[1])
        return
    rustc = result.paths.get("rustc", "")
    places = [(os.path.dirname(rustc), result.provenance["rustc"])] if rustc else []
    places += [(folder, "PATH") for folder in request.path.split(os.pathsep) if folder]
    for folder, provenance in places:
        if watch.executable(f"{folder}/cargo"):
            result.found("cargo", f"{folder}/cargo", "", provenance.replace("rustc", "cargo"))
            return

"""Where the tools may lie: candidates in order of preference, without running anything.

Every path that is looked at goes through :class:`Watch`, which remembers its state. A later
run compares those states (a few dozen `stat` calls) instead of probing again.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fatcrate.toolchain.versions import numbers

State = list[int] | None  # [size, mtime in ns, inode]; None: not there


def state_of(path: str) -> State:
    """The state by which a change of the file or folder at ``path`` is noticed."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ino]


@dataclass
class Watch:
    """The file system as seen by discovery; records what was seen."""

    states: dict[str, State] = field(default_factory=dict)

    def exists(self, path: str) -> bool:
        if path not in self.states:
            self.states[path] = state_of(path)
        return self.states[path] is not None

    def executable(self, path: str) -> bool:
        return self.exists(path) and os.path.isfile(path) and os.access(path, os.X_OK)

    def names(self, folder: str) -> list[str]:
        """Names in a folder, sorted; empty when it is not there."""
        if not self.exists(folder):
            return []
        try:
            return sorted(os.listdir(folder))
        except OSError:
            return []


def interpreter() -> str:
    """The running interpreter under one name, whichever of its names started it.

    It stands in the argv of every step, so another spelling would rebuild everything.
    """
    other = os.path.join(os.path.dirname(sys.executable), "python3")
    try:
        same = os.path.samefile(other, sys.executable)
    except OSError:
        same = False
    return other if same else sys.executable


@dataclass(frozen=True)
class Request:
    """What a front end was told. Paths are "" where the user said nothing.

    ``root`` is prefixed to the system's own folders, for tests with made-up layouts.
    """

    rustc: str = ""
    rust_src: str = ""
    ptxas: str = ""
    libdevice: str = ""
    host_linker: str = ""
    cuda_home: str = ""
    allow_untested_llvm: bool = False
    rustup_home: str = ""
    path: str = ""
    python: str = ""
    packages: tuple[str, ...] = ()  # folders with the interpreter's installed packages
    root: str = ""
    cargo: str = ""

    @classmethod
    def from_environment(
        cls, environ: Mapping[str, str], *, allow_untested_llvm: bool = False
    ) -> Request:
        """Reads the variables that front ends honour; steps never see them."""
        home = environ.get("HOME", "")
        return cls(
            rustc=environ.get("FATCRATE_RUSTC", ""),
            rust_src=environ.get("FATCRATE_RUST_SRC", ""),
            ptxas=environ.get("FATCRATE_PTXAS", ""),
            libdevice=environ.get("FATCRATE_LIBDEVICE", ""),
            host_linker=environ.get("FATCRATE_HOST_LINKER", ""),
            cuda_home=environ.get("CUDA_HOME", "") or environ.get("CUDA_PATH", ""),
            allow_untested_llvm=allow_untested_llvm
            or environ.get("FATCRATE_ALLOW_UNTESTED_LLVM", "") not in ("", "0"),
            rustup_home=environ.get("RUSTUP_HOME", "") or (f"{home}/.rustup" if home else ""),
            path=environ.get("PATH", ""),
            cargo=environ.get("FATCRATE_CARGO", ""),
            python=interpreter(),
            packages=tuple(p for p in sys.path if p.endswith(("site-packages", "dist-packages"))),
        )


@dataclass(frozen=True)
class RustCandidate:
    """A rustc and its standard library: sources, or a prebuilt nvptx target."""

    rustc: str
    sysroot: str
    rust_src: str  # folder that holds `core`; "" when there is none
    prebuilt: str  # folder with the prebuilt target's rlibs; "" when there is none
    provenance: str


def _library(sysroot: str) -> str:
    return f"{sysroot}/lib/rustlib/src/rust/library"


def _prebuilt(sysroot: str) -> str:
    return f"{sysroot}/lib/rustlib/nvptx64-nvidia-cuda/lib"


def rust_in(watch: Watch, rustc: str, sysroot: str, rust_src: str, source: str) -> RustCandidate:
    """The candidate for one rustc: looks for sources and a prebuilt target in its sysroot."""
    library = rust_src or _library(sysroot)
    has_source = watch.exists(f"{library}/core/src/lib.rs")
    rlibs = watch.names(_prebuilt(sysroot))
    has_prebuilt = any(n.startswith("libcore-") and n.endswith(".rlib") for n in rlibs)
    return RustCandidate(
        rustc,
        sysroot,
        library if has_source else "",
        _prebuilt(sysroot) if has_prebuilt else "",
        source,
    )


def rust_candidates(watch: Watch, request: Request) -> Iterator[RustCandidate]:
    """Rust toolchains, best first: Debian's rustc-web, then rustup's default, then its others."""
    debian = f"{request.root}/usr"
    if watch.executable(f"{debian}/bin/rustc"):
        yield rust_in(
            watch, f"{debian}/bin/rustc", debian, request.rust_src, "Debian package rustc-web"
        )
    for name in _rustup_names(watch, request.rustup_home):
        sysroot = f"{request.rustup_home}/toolchains/{name}"
        if watch.executable(f"{sysroot}/bin/rustc"):
            yield rust_in(
                watch, f"{sysroot}/bin/rustc", sysroot, request.rust_src, f"rustup {name}"
            )


_DEFAULT = re.compile(r'^default_toolchain\s*=\s*"([^"]+)"', re.MULTILINE)


def _rustup_names(watch: Watch, home: str) -> list[str]:
    """Installed rustup toolchains, the default one first."""
    if not home:
        return []
    names = watch.names(f"{home}/toolchains")
    default = ""
    if watch.exists(f"{home}/settings.toml"):
        with open(f"{home}/settings.toml", encoding="utf-8", errors="replace") as stream:
            match = _DEFAULT.search(stream.read())
        default = match[1] if match else ""
    return sorted(names, key=lambda name: (name != default, name))


@dataclass(frozen=True)
class CudaRoot:
    """One place that may hold CUDA pieces: folders of programs and of libdevice."""

    binaries: str
    libdevice: str
    provenance: str


def cuda_roots(watch: Watch, request: Request) -> Iterator[CudaRoot]:
    """Places with CUDA pieces, best first: wheels, CUDA_HOME, /usr/local, PATH, Debian."""
    for packages in request.packages:
        for name in _newest(n for n in watch.names(f"{packages}/nvidia") if n.startswith("cu")):
            root = f"{packages}/nvidia/{name}"
            yield CudaRoot(f"{root}/bin", f"{root}/nvvm/libdevice", "PyPI")
    if request.cuda_home:
        yield _toolkit(request.cuda_home, "CUDA_HOME")
    local = f"{request.root}/usr/local"
    names = [n for n in watch.names(local) if n == "cuda" or n.startswith("cuda-")]
    for name in sorted(names, key=lambda n: n != "cuda") if "cuda" in names else _newest(names):
        yield _toolkit(f"{local}/{name}", f"CUDA toolkit in {local}/{name}")
    for folder in request.path.split(os.pathsep):
        if folder and watch.executable(f"{folder}/ptxas"):
            real = os.path.dirname(os.path.dirname(os.path.realpath(f"{folder}/ptxas")))
            yield _toolkit(real, "PATH")
    debian = f"{request.root}/usr/lib/nvidia-cuda-toolkit"
    yield CudaRoot(f"{debian}/bin", f"{debian}/libdevice", "Debian package nvidia-cuda-toolkit")


def _toolkit(root: str, provenance: str) -> CudaRoot:
    return CudaRoot(f"{root}/bin", f"{root}/nvvm/libdevice", provenance)


def _newest(names: Iterator[str] | list[str]) -> list[str]:
    """Sorts ``cu13``, ``cuda-12.4`` and the like, the highest number first."""

    def version(name: str) -> tuple[int, ...]:
        digits = name.lstrip("cuda-_")
        try:
            return numbers(digits)
        except ValueError:
            return ()

    return sorted(names, key=version, reverse=True)


def host_linkers(request: Request) -> Iterator[tuple[str, str]]:
    """C compilers in the folders of PATH: (path, provenance)."""
    for name in ("cc", "gcc", "clang"):
        for folder in request.path.split(os.pathsep):
            if folder:
                yield f"{request.root}{folder}/{name}", "PATH"

"""Asks the tools what they are and what they can do. Slow (a second or two), so done once.

Each function runs a tool and returns its part of :class:`identity.Identity`; a tool that does
not answer as expected is FC0231 with the command that was tried.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from typing import NoReturn

from fatcrate.toolchain import errors
from fatcrate.toolchain.diagnostics import fail
from fatcrate.toolchain.identity import HostLinker, Llvm, Ptxas, Rustc
from fatcrate.toolchain.versions import numbers

TIMEOUT = 120  # seconds; a tool that hangs is broken

#: What a probed tool sees of the environment: nothing of the user's.
_ENVIRONMENT = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}


def run(argv: Sequence[str], *, environ: dict[str, str] | None = None) -> tuple[int, str]:
    """Runs a tool; returns its exit status and what it printed on both streams."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT,
            check=False,
            env=_ENVIRONMENT | (environ or {}),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        fail(
            errors.BROKEN_TOOL,
            argv[0],
            f"cannot be run: {error}",
            remedy="`fatcrate doctor` shows where each tool comes from and how to get it",
        )
    return done.returncode, done.stdout.decode("utf-8", "replace")


def _broken(argv: Sequence[str], output: str) -> NoReturn:
    lines = [line for line in output.strip().splitlines() if line][:5]
    fail(
        errors.BROKEN_TOOL,
        argv[0],
        f"gives no usable answer to `{' '.join(argv)}`",
        notes=lines,
        remedy="`fatcrate doctor` shows where each tool comes from and how to get it",
    )


def sha256(*paths: str) -> str:
    """One digest over the contents of files, in the order given."""
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest() if len(paths) != 1 else _single(paths[0])


def _single(path: str) -> str:
    """The plain SHA-256 of one file, as `sha256sum` prints it."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def tree_sha256(folder: str, parts: Iterable[str]) -> str:
    """A digest over the files below ``folder``'s ``parts``: names relative to it and contents."""
    digest = hashlib.sha256()
    for part in parts:
        for path, folders, files in os.walk(os.path.join(folder, part)):
            folders.sort()
            for name in sorted(files):
                full = os.path.join(path, name)
                digest.update(os.path.relpath(full, folder).encode("utf-8", "surrogateescape"))
                digest.update(b"\0" + bytes.fromhex(_single(full)))
    return digest.hexdigest()


def rustc(path: str, libraries: Sequence[str]) -> Rustc:
    """`rustc -vV` and the digest of the compiler and its ``libraries``."""
    argv = [path, "-vV"]
    status, output = run(argv)
    fields = dict(re.findall(r"^([A-Za-z-]+(?: version)?): (.*)$", output, re.MULTILINE))
    if status or not {"release", "host", "LLVM version"} <= fields.keys():
        _broken(argv, output)
    return Rustc(
        version=fields["release"],
        commit=fields.get("commit-hash", ""),
        llvm=fields["LLVM version"],
        host=fields["host"],
        sha256=sha256(path, *libraries),
    )


_LOADED = re.compile(r"=> (\S*(?:librustc_driver|libLLVM)\S*) \(")


def driver_libraries(path: str) -> list[str]:
    """The shared libraries that are the compiler proper, as the dynamic loader finds them."""
    _, output = run([path], environ={"LD_TRACE_LOADED_OBJECTS": "1"})
    return [found for found in _LOADED.findall(output) if os.path.isfile(found)]


def rustc_sysroot(path: str) -> str:
    """`rustc --print sysroot`."""
    argv = [path, "--print", "sysroot"]
    status, output = run(argv, environ={"HOME": os.environ.get("HOME", "/")})
    sysroot = output.strip()
    if status or not os.path.isdir(sysroot):
        _broken(argv, output)
    return sysroot


def ptxas(path: str) -> Ptxas:
    """`ptxas --version`, its arch list, and the newest PTX ISA it reads."""
    argv = [path, "--version"]
    _, output = run(argv)
    version = re.search(r"release [0-9.]+, V([0-9.]+)", output)
    if version is None:
        _broken(argv, output)
    help_argv = [path, "--help"]
    _, output = run(help_argv)
    archs = sorted(set(re.findall(r"'(sm_[0-9]+[af]?)'", output)), key=_arch_key)
    if not archs:
        _broken(help_argv, output)
    return Ptxas(version[1], sha256(path), archs, _ptxas_isa(path, archs[0]))


def _arch_key(name: str) -> tuple[int, str]:
    digits = name[3:].rstrip("af")
    return int(digits), name[3 + len(digits) :]


def _ptxas_isa(path: str, arch: str) -> str:
    """ptxas names its newest ISA when it refuses one that cannot exist."""
    with tempfile.TemporaryDirectory(prefix="fatcrate-") as folder:
        source = os.path.join(folder, "probe.ptx")
        with open(source, "w", encoding="ascii") as stream:
            stream.write(f".version 99.9\n.target {arch}\n.address_size 64\n")
        argv = [path, "-arch", arch, source, "-o", os.path.join(folder, "probe.cubin")]
        _, output = run(argv)
    match = re.search(r"current version is '([0-9.]+)'", output)
    if match is None:
        _broken(argv, output)
    return match[1]


#: Every number and suffix is offered to LLVM: no list of ours decides which it knows.
ARCH_NUMBERS = range(50, 260)

#: Runs the probe with our own import path, installed or not.
_PROBE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1));"
    " from fatcrate.lto.probe import main; sys.exit(main(sys.argv[1:]))"
)


def llvm(python: str) -> Llvm:
    """What the linker's LLVM knows, asked by `fatcrate.lto.probe` in processes of its own.

    The probe prints one JSON object per answer. It can be killed by an LLVM abort in the
    middle; then the question that killed it counts as "unknown" and the rest is asked anew.
    """
    names = [f"sm_{n}{suffix}" for n in ARCH_NUMBERS for suffix in ("", "a", "f")]
    answers: dict[str, str] = {}
    head: dict[str, str] = {}
    while names:
        argv = [python, "-I", "-c", _PROBE, json.dumps(sys.path), *names]
        status, output = run(argv)
        rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        if not rows:
            _broken([python, "-m", "fatcrate.lto.probe", names[0]], output)
        head = rows[0]
        for row in rows[1:]:
            answers[row["arch"]] = row["isa"]
        asked = len(rows) - 1
        names = names[asked:] if status == 0 else names[asked + 1 :]
        if status == 0:
            break
    isas = {name: isa for name, isa in answers.items() if isa}
    return Llvm(
        package=head["package"],
        version=head["version"],
        archs=sorted(isas, key=_arch_key),
        max_ptx_isa=head["max_ptx_isa"],
        min_ptx_isa=isas,
    )


def host_linker(path: str) -> HostLinker:
    """The C compiler's first version line and digest."""
    argv = [path, "--version"]
    status, output = run(argv)
    lines = output.splitlines()
    if status or not lines:
        _broken(argv, output)
    found = re.search(r"\b([0-9]+\.[0-9]+(?:\.[0-9]+)?)\b", lines[0])
    return HostLinker(found[1] if found else lines[0], sha256(path))


#: What the sysroot step reads of the library sources.
SOURCE_PARTS = (
    "core",
    "alloc",
    "compiler-builtins",
    "portable-simd/crates/core_simd",
    "stdarch/crates/core_arch",
)


def source_version(library: str) -> str:
    """The release that library sources belong to, "" when they do not tell.

    Debian and rustc tarballs have ``src/version`` beside ``library``; rustup's component has
    only the toolchain's manifest, which is that of its rustc.
    """
    base = os.path.dirname(os.path.realpath(library))
    for name in ("src/version", "version"):
        try:
            with open(os.path.join(base, name), encoding="utf-8") as stream:
                text = stream.read().strip()
        except (OSError, UnicodeDecodeError):
            continue
        if re.match(r"[0-9]+\.[0-9]+\.[0-9]+", text):
            return text.split()[0]
    return ""


def same_release(first: str, second: str) -> bool:
    """Whether two version strings name one release (``1.97.0-nightly`` is ``1.97.0``)."""
    return numbers(first)[:3] == numbers(second)[:3]

"""`fatcrate doctor`: every tool, its version, where it came from, what is missing."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

from fatcrate.toolchain import atomic, compat, errors, schema, sources, survey
from fatcrate.toolchain.diagnostics import EXIT_ENVIRONMENT, Diagnostic, report
from fatcrate.toolchain.discover import Survey
from fatcrate.toolchain.locate import Request, Watch
from fatcrate.toolchain.versions import numbers

_EPILOG = """\
examples:
  fatcrate doctor                            what is installed, and what to install
  fatcrate doctor --json                     the same for programs
  fatcrate doctor --identity toolchain.json  write the identity that steps take

environment (read by front ends, never by steps):
  FATCRATE_RUSTC, FATCRATE_RUST_SRC, FATCRATE_PTXAS, FATCRATE_LIBDEVICE,
  FATCRATE_HOST_LINKER                       use this file instead of looking for one
  FATCRATE_ALLOW_UNTESTED_LLVM=1             as --allow-untested-llvm
  CUDA_HOME or CUDA_PATH, RUSTUP_HOME, PATH  places to look in

exit status: 0 all required tools are there and fit together, 3 something is missing
"""


@dataclass(frozen=True)
class Row:
    """One tool of the report. ``remedy`` is the command that gets a tool that is absent."""

    name: str
    key: str  # its key in a Survey; "" for tools that only the doctor looks for
    required: bool
    remedy: str


ROWS = (
    Row("rustc", "rustc", True, survey.GET_RUST),
    Row("rust-src", "rust_src", True, survey.GET_RUST),
    Row("LLVM (llvmlite)", "llvm", True, survey.GET_LLVM),
    Row("ptxas", "ptxas", True, survey.GET_PTXAS),
    Row("libdevice", "libdevice", True, survey.GET_LIBDEVICE),
    Row("host linker", "host_linker", True, survey.GET_HOST_LINKER),
    Row("python", "python", True, "apt-get install python3"),
    Row("ninja", "ninja", True, "pip install ninja"),
    Row("bazel", "bazel", False, "apt-get install bazel-bootstrap"),
    Row("cargo", "cargo", False, survey.GET_CARGO),
    Row("nvdisasm", "nvdisasm", False, survey.GET_NVDISASM),
    Row("cuobjdump", "cuobjdump", False, survey.GET_CUOBJDUMP),
    Row("nvlink", "nvlink", False, survey.GET_PTXAS),
    Row("libLLVM", "libllvm", False, "use a rustc whose LLVM is a shared library"),
    Row("NVIDIA driver", "driver", False, "install NVIDIA's driver on the machine with the GPU"),
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fatcrate doctor",
        description="Prints each tool, its version and where it came from, what is missing and"
        " the command that gets it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--identity",
        metavar="FILE",
        help="write the toolchain's identity (versions and digests, no paths) to FILE",
    )
    parser.add_argument(
        compat.ALLOW_UNTESTED,
        action="store_true",
        help="accept a rustc whose LLVM is of a newer patch level than the tested ones",
    )
    return parser


def main(argv: list[str]) -> int:
    """Runs the command; returns 0, or 3 when something required is missing."""
    args = _parser().parse_args(argv)
    request = Request.from_environment(os.environ, allow_untested_llvm=args.allow_untested_llvm)
    found = survey.survey(Watch(), request, sources.digest(Watch()))
    _find_others(found, request)
    ok = not found.faults and found.identity is not None
    if args.identity and found.identity is not None:
        atomic.write_text(args.identity, found.identity.to_json())
    if args.json:
        print(json.dumps(as_json(found), indent=2, sort_keys=True))
    else:
        print(as_text(found))
        report(found.faults, stream=sys.stdout)
    return 0 if ok else EXIT_ENVIRONMENT


def _find_others(found: Survey, request: Request) -> None:
    """Tools that are no part of an identity: Ninja, Bazel, the driver."""
    beside = os.path.join(os.path.dirname(request.python), "ninja")
    ninja = beside if os.access(beside, os.X_OK) else shutil.which("ninja", path=request.path)
    if ninja:
        found.found("ninja", ninja, "", "PyPI ninja" if ninja == beside else "PATH")
    else:
        found.faults.append(
            Diagnostic(errors.MISSING_TOOL, "ninja", "is not installed", remedy="pip install ninja")
        )
    bazel = shutil.which("bazel", path=request.path) or shutil.which("bazelisk", path=request.path)
    if bazel:
        found.found("bazel", bazel, "", "PATH")
    driver = "/proc/driver/nvidia/version"
    if os.path.exists(driver):
        with open(driver, encoding="utf-8", errors="replace") as stream:
            version = re.search(r"\b([0-9]{3,}\.[0-9.]+)\b", stream.read())
        found.found("driver", driver, version[1] if version else "", "the kernel module")
    for name in ("ninja", "bazel", "cargo", "nvdisasm", "cuobjdump"):
        if name in found.paths and not found.versions[name]:
            found.versions[name] = _version(found.paths[name])


_VERSION = re.compile(r"\b[vV]?(\d+\.\d+(?:\.\d+)*)")


def _version(program: str) -> str:
    """What ``program --version`` says, or the Debian package's version; "" if neither."""
    said = _output([program, "--version"])
    if match := max(_VERSION.finditer(said), key=lambda m: len(m[1]), default=None):
        return match[1]
    owner = _output(["dpkg-query", "-S", os.path.realpath(program)]).partition(":")[0]
    packaged = _output(["dpkg-query", "-W", "-f=${Version}", owner]) if owner else ""
    return packaged.partition("+")[0].partition("-")[0]


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _key(row: Row, found: Survey) -> str:
    """A prebuilt nvptx target stands in for the sources."""
    return "prebuilt" if row.key == "rust_src" and "prebuilt" in found.paths else row.key


def as_json(found: Survey) -> dict[str, object]:
    """The report as JSON-ready data."""
    tools = []
    for row in ROWS:
        key = _key(row, found)
        tools.append(
            {
                "name": row.name,
                "key": key,
                "required": row.required,
                "state": found.state(key),
                "path": found.paths.get(key, ""),
                "version": found.versions.get(key, ""),
                "provenance": found.provenance.get(key, ""),
                "remedy": "" if found.state(key) == "ok" else _remedy(row, found),
            }
        )
    identity = found.identity
    return {
        "ok": not found.faults and identity is not None,
        "tools": tools,
        "faults": [fault.to_json() for fault in found.faults],
        "identity": schema.plain(identity) if identity else None,
        "archs": {kind: identity.buildable(kind) for kind in ("sm", "compute")}
        if identity
        else None,
    }


def _remedy(row: Row, found: Survey) -> str:
    """What gets the tool: beside what was found of the others, if its fault tells that."""
    for fault in found.faults:
        if fault.subject.startswith(f"{row.name} ("):
            return fault.remedy
    return row.remedy


def as_text(found: Survey) -> str:
    """The report as a table and a summary of what can be built."""
    lines = []
    for row in ROWS:
        key = _key(row, found)
        state = found.state(key)
        if state == "missing":
            word = "MISSING" if row.required else "absent"
            lines.append(f"{row.name:16} {word:14} get it: {_remedy(row, found)}")
        else:
            version = "UNUSABLE" if state == "unusable" else found.versions[key] or "-"
            lines.append(f"{row.name:16} {version:14} {found.provenance[key]}: {found.paths[key]}")
    identity = found.identity
    if identity is not None:
        driver = compat.cubin_driver(identity.ptxas.version)
        isa = min(identity.llvm.max_ptx_isa, identity.ptxas.max_ptx_isa, key=numbers)
        lines += [
            "",
            f"archs: {' '.join(identity.buildable())}",
            f"PTX up to ISA {isa}; cubins need driver {driver} or newer",
        ]
    lines.append("")
    lines.append(
        "the toolchain is complete"
        if identity and not found.faults
        else "the toolchain is not complete:"
    )
    return "\n".join(lines)

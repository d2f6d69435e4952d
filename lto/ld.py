"""``fatcrate-ld``: takes the command line that rustc gives its linker for bitcode targets.

With ``-C linker=fatcrate-ld`` (or ``linker = "fatcrate-ld"`` under
``[target.nvptx64-nvidia-cuda]`` in Cargo's configuration) a plain ``cargo build --target
nvptx64-nvidia-cuda`` of a ``cdylib`` links as `fatcrate link` does and writes PTX. The tools
are found as the front ends find them, since rustc cannot be told more than a path.

rustc's command line (flavor ``llbc``): objects and rlibs, ``--export-symbol NAME``, ``-L DIR``,
``--target``, ``--target-cpu``, ``-O0`` to ``-O3``, ``-Os``, ``-Oz``, ``--debug``, ``-o FILE``.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from fatcrate.lto import bitcode, codegen, errors, inputs, link
from fatcrate.toolchain import arch as archs
from fatcrate.toolchain import atomic, names
from fatcrate.toolchain.diagnostics import fail
from fatcrate.toolchain.guard import guarded, leave

_EPILOG = """\
examples (in .cargo/config.toml):
  [target.nvptx64-nvidia-cuda]
  linker = "fatcrate-ld"
  rustflags = ["-Ctarget-cpu=sm_80", "-Clink-arg=--manifest=demo.json"]
"""
_RLIB = re.compile(r"lib(?P<name>\w+?)(?:-[0-9a-f]+)?\.rlib")


def parser() -> argparse.ArgumentParser:
    """rustc's options, and ours (pass them with ``-C link-arg``)."""
    p = argparse.ArgumentParser(
        prog="fatcrate-ld",
        description="A linker for rustc's GPU targets: bitcode to PTX.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    p.add_argument("files", nargs="+", metavar="FILE", help="objects, rlibs, bitcode")
    p.add_argument("-o", dest="output", required=True, metavar="PTX", help="the PTX text")
    p.add_argument("--target", default=names.NVPTX_TRIPLE, help="only %(default)s")
    p.add_argument("--target-cpu", metavar="CPU", help="sm_80 and the like")
    p.add_argument("--export-symbol", action="append", default=[], metavar="NAME")
    p.add_argument("-L", action="append", default=[], metavar="DIR", help="ignored")
    p.add_argument("-O", dest="level", default="0", choices=sorted(codegen.LEVELS))
    p.add_argument("--debug", action="store_true", help="keep source lines")
    p.add_argument("--manifest", metavar="JSON", help="write the ABI manifest here")
    p.add_argument("--report", metavar="JSON", help="write the link report here")
    p.add_argument("--bitcode", metavar="BC", help="write the linked module here")
    p.add_argument("--engine", default="llvmlite", metavar="NAME", help="as of `fatcrate link`")
    return p


@dataclass(frozen=True)
class _Inputs:
    crates: list[tuple[str, str]]
    sysroot: list[tuple[str, str]]


def sort_inputs(files: Sequence[str]) -> _Inputs:
    """Crates in their order, rlibs of the sysroot apart; each file once."""
    crates: list[tuple[str, str]] = []
    sysroot: list[tuple[str, str]] = []
    for path in dict.fromkeys(files):
        base = os.path.basename(path)
        match = _RLIB.fullmatch(base)
        name = match["name"] if match else base.split(".", 1)[0]
        if match and name in names.SYSROOT_CRATES:
            sysroot.append((name, path))
        elif not (match and name == "rustc_std_workspace_core"):
            crates.append((name, path))
    return _Inputs(crates, sysroot)


def _kept(found: _Inputs, exported: Sequence[str]) -> list[str]:
    """Exported symbols that are functions or statics of the crates, but not kernels."""
    wanted, kept = set(exported), []
    for name, path in found.crates:
        for member in inputs.load(name, "crate", path).members:
            kept += [s.name for s in member.info.defined() if s.name in wanted and _plain(s)]
    return list(dict.fromkeys(kept))


def _plain(symbol: bitcode.Symbol) -> bool:
    return (
        symbol.calling_convention != names.CC_PTX_KERNEL and "rust_begin_unwind" not in symbol.name
    )


def _arch(cpu: str | None) -> archs.Arch:
    if not cpu or cpu == "sm_30":  # the target's own default, which no recent tool knows
        fail(
            errors.BAD_OPTION,
            "--target-cpu",
            f"{cpu or 'nothing'} is what rustc gives by default, and no driver of today runs it",
            remedy='choose one: rustflags = ["-Ctarget-cpu=sm_80"]',
        )
    arch = archs.parse_one(cpu)
    return archs.Arch("compute", arch.number, arch.suffix) if arch.kind == "sm" else arch


def main(argv: list[str]) -> int:
    """Runs ``fatcrate-ld``."""
    args = parser().parse_args(argv)
    if args.target != names.NVPTX_TRIPLE:
        fail(errors.BAD_OPTION, "--target", f"{args.target} is not a target of this linker")
    arch = _arch(args.target_cpu)
    from fatcrate.toolchain.discover import discover

    tools = discover()
    found = sort_inputs(args.files)
    with tempfile.TemporaryDirectory() as folder:
        identity = os.path.join(folder, "toolchain.json")
        atomic.write_text(identity, tools.identity.to_json())
        linked = args.bitcode or os.path.join(folder, "linked.bc")
        manifest = args.manifest or os.path.join(folder, "manifest.json")
        name = os.path.basename(args.output).split(".", 1)[0] or "cdylib"
        words = ["--name", name, "--toolchain", identity, "--libdevice", tools.libdevice]
        words += ["--output", linked, "--manifest", manifest, "--engine", args.engine]
        words += ["--report", args.report or os.path.join(folder, "report.json")]
        for crate, path in found.crates:
            words += ["--crate", f"{crate}={path}"]
        for crate, path in found.sysroot:
            words += ["--sysroot-crate", f"{crate}={path}"]
        for symbol in _kept(found, args.export_symbol):
            words += ["--undefined", symbol]
        link.main(words)
        words = ["--arch", str(arch), "--opt-level", args.level, "--toolchain", identity]
        words += ["--manifest", manifest, "--output", args.output, "--engine", args.engine]
        words += ["--debug", "line" if args.debug else "none", linked]
        return codegen.main(words)


def entry() -> None:
    """Console-script entry point."""
    leave(guarded(lambda: main(sys.argv[1:]), program="fatcrate-ld"))

"""CODEGEN: ``fatcrate codegen``. The linked module for one architecture, to PTX text.

The arch queries are answered and folded, the module is optimised and PTX is generated. A
real architecture (``sm_90``) gets the newest PTX ISA that LLVM and ptxas share, since only
ptxas reads that text; a virtual one (``compute_90``) the oldest that has the architecture,
or the newest that ``--min-driver`` loads, since the user's driver compiles it.
"""

from __future__ import annotations

import argparse
import dataclasses

from fatcrate.lto import emit, generate, isolate, policy, repro
from fatcrate.lto.engine import Target, Tuning, choose
from fatcrate.lto.options import add_engine
from fatcrate.toolchain import arch as archs
from fatcrate.toolchain import atomic, identity, names
from fatcrate.toolchain import manifest as manifests
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.versions import numbers

_EPILOG = """\
examples:
  fatcrate codegen --arch sm_90a --opt-level 3 --toolchain toolchain.json \\
      --manifest demo.manifest.json --output sm_90a.ptx demo.bc
"""

LEVELS = {"0": (0, 0), "1": (1, 0), "2": (2, 0), "3": (3, 0), "s": (2, 1), "z": (2, 2)}


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate codegen``."""
    p = argparse.ArgumentParser(
        prog="fatcrate codegen",
        description="Generates PTX for one architecture from a linked module.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    p.add_argument("linked", metavar="LINKED.bc", help="output of `fatcrate link`")
    p.add_argument("--arch", required=True, help="sm_90, sm_90a, compute_90, …")
    p.add_argument("--toolchain", required=True, metavar="JSON", help="toolchain identity")
    p.add_argument("--manifest", required=True, metavar="JSON", help="manifest of the link")
    p.add_argument("--output", required=True, metavar="PTX", help="the PTX text")
    p.add_argument("--opt-level", default="3", choices=sorted(LEVELS), help="default: %(default)s")
    p.add_argument(
        "--min-driver", type=int, metavar="N", help="oldest driver branch that must load the PTX"
    )
    _add_policy(p)
    add_engine(p)
    p.add_argument(
        "--timeout",
        type=float,
        default=isolate.DEFAULT_TIMEOUT,
        metavar="SECONDS",
        help="end LLVM after this time (default: %(default)s)",
    )
    return p


def _add_policy(p: argparse.ArgumentParser) -> None:
    """Options about floating point, debug information and LLVM's heuristics."""
    p.add_argument(
        "--ftz", action="store_true", help="flush f32 subnormals to zero (default: keep them)"
    )
    p.add_argument(
        "--div",
        choices=list(policy.DIVISION_CHOICES),
        default="ieee",
        help="f32 division: correctly rounded, 2 ulp, or approximate (default: %(default)s)",
    )
    p.add_argument(
        "--sqrt",
        choices=list(policy.SQRT_CHOICES),
        default="ieee",
        help="f32 square root (default: %(default)s)",
    )
    p.add_argument(
        "--contract",
        choices=list(policy.CONTRACT_CHOICES),
        default="off",
        help="fuse multiplications with additions (default: %(default)s, as Rust promises)",
    )
    p.add_argument(
        "--debug",
        choices=policy.DEBUG_CHOICES,
        default="line",
        help="debug information to keep: none, source lines (costs no speed), or all, which"
        " makes ptxas compile without optimisation (default: %(default)s)",
    )
    p.add_argument("--inline-threshold", type=int, metavar="N", help="LLVM's inlining threshold")
    p.add_argument("--no-unroll", action="store_true", help="do not unroll loops")
    p.add_argument("--no-vectorize", action="store_true", help="do not vectorise memory accesses")
    p.add_argument(
        "--llvm-option",
        action="append",
        default=[],
        metavar="OPTION",
        help="an option for LLVM, such as --llvm-option=-unroll-threshold=100",
    )


def ptx_isa(toolchain: identity.Identity, arch: archs.Arch, min_driver: int | None) -> str:
    """The PTX ISA version to generate. Raises FC0211 for an arch that cannot be built."""
    chosen = toolchain.ptx_isa_for(arch, min_driver)
    if arch.is_ptx or min_driver is not None:
        return chosen
    newest = min(toolchain.llvm.max_ptx_isa, toolchain.ptxas.max_ptx_isa, key=numbers)
    return max(newest, chosen, key=numbers)


def main(argv: list[str]) -> int:
    """Runs ``fatcrate codegen``."""
    args = parser().parse_args(argv)
    arch = archs.parse_one(args.arch)
    toolchain = identity.load(args.toolchain)
    manifest = manifests.load(args.manifest)
    isa = ptx_isa(toolchain, arch, args.min_driver)
    level, size = LEVELS[args.opt_level]
    target = Target(names.NVPTX_TRIPLE, arch.target_cpu, f"+ptx{isa.replace('.', '')}", level)
    with open(args.linked, "rb") as stream:
        linked = stream.read()

    tuning = Tuning(args.inline_threshold, not args.no_unroll, not args.no_vectorize, size)
    chosen = policy.Policy(
        args.ftz, args.div, args.sqrt, args.contract, args.debug, tuple(args.llvm_option)
    )

    engine = choose(args.engine, toolchain.rustc.llvm)
    job = generate.Job(linked, args.linked, arch, target, tuning, chosen, engine)
    try:
        ptx = isolate.run(lambda: generate.generate(job), timeout=args.timeout)
    except isolate.Crash as crash:
        fault = generate.describe_crash(crash, job, manifest, args.timeout)
        raise repro.attach(
            FatcrateError(fault), args.output, _capture(args, argv, toolchain)
        ) from crash
    ptx = emit.pin_files(ptx)
    emit.check_kernels(emit.entries(ptx), [k.name for k in manifest.kernels], str(arch))
    atomic.write_text(args.output, ptx)
    return 0


def _capture(
    args: argparse.Namespace, argv: list[str], toolchain: identity.Identity
) -> repro.Reproducer:
    inputs = {
        args.linked: "linked.bc",
        args.manifest: "manifest.json",
        args.toolchain: "toolchain.json",
    }
    made = repro.capture("codegen", argv, inputs, toolchain.versions())
    return dataclasses.replace(
        made, argv=["@output.ptx" if word == args.output else word for word in made.argv]
    )

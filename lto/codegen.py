"""CODEGEN: ``fatcrate codegen``. The linked module for one architecture, to PTX text.

The arch queries are answered and folded, the module is optimised and PTX is generated. A
real architecture (``sm_90``) gets the newest PTX ISA that LLVM and ptxas share, since only
ptxas reads that text; a virtual one (``compute_90``) the oldest that has the architecture,
or the newest that ``--min-driver`` loads, since the user's driver compiles it.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

from fatcrate.lto import emit, errors, generate, isolate, policy, repro
from fatcrate.lto.engine import Target, Tuning, choose
from fatcrate.lto.options import add_engine, add_timeout
from fatcrate.toolchain import arch as archs
from fatcrate.toolchain import atomic, identity, names
from fatcrate.toolchain import manifest as manifests
from fatcrate.toolchain.diagnostics import Collector, FatcrateError, fail
from fatcrate.toolchain.usage import at_least_one, command_parser, distinct
from fatcrate.toolchain.versions import numbers

_EPILOG = """\
examples:
  fatcrate codegen --arch sm_90a --opt-level 3 --toolchain toolchain.json \\
      --manifest demo.manifest.json --output sm_90a.ptx demo.bc
  fatcrate codegen --arch sm_80 --also sm_90=sm_90.ptx --toolchain toolchain.json \\
      --manifest demo.manifest.json --output sm_80.ptx demo.bc
"""

LEVELS = {"0": (0, 0), "1": (1, 0), "2": (2, 0), "3": (3, 0), "s": (2, 1), "z": (2, 2)}


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate codegen``."""
    p = command_parser(
        "fatcrate codegen",
        "Generates PTX for one architecture from a linked module.",
        _EPILOG,
    )
    p.add_argument("linked", metavar="LINKED.bc", help="output of `fatcrate link`")
    p.add_argument("--arch", required=True, help="sm_90, sm_90a, compute_90, …")
    p.add_argument("--toolchain", required=True, metavar="JSON", help="toolchain identity")
    p.add_argument("--manifest", required=True, metavar="JSON", help="manifest of the link")
    p.add_argument("--output", required=True, metavar="PTX", help="the PTX text")
    p.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="ARCH=PTX",
        help="generate for this arch, too; reads the module once and shares what can be shared",
    )
    p.add_argument(
        "--no-share",
        action="store_true",
        help="generate each arch by itself even where the PTX would be the same",
    )
    p.add_argument(
        "--jobs",
        type=at_least_one,
        default=2,
        metavar="N",
        help="processes at a time, for archs and parts of large modules (default: %(default)s)",
    )
    p.add_argument("--opt-level", default="3", choices=sorted(LEVELS), help="default: %(default)s")
    p.add_argument(
        "--min-driver", type=int, metavar="N", help="oldest driver branch that must load the PTX"
    )
    p.add_argument(
        "--emit",
        choices=("asm", "llvm-ir"),
        default="asm",
        help="write PTX, or the optimised module as textual IR (default: %(default)s)",
    )
    p.add_argument(
        "--number-places",
        action="store_true",
        help="source lines in the PTX are rows of a table at its end, with all that was inlined",
    )
    p.add_argument("--time-trace", metavar="JSON", help="write a trace for chrome://tracing")
    p.add_argument("--remarks", metavar="YAML", help="write LLVM's optimisation remarks")
    _add_policy(p)
    add_engine(p)
    add_timeout(p)
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


#: The first PTX ISA that has labels in sections, which debug information refers to.
_DEBUG_ISA = "7.0"


def ptx_isa(
    toolchain: identity.Identity, arch: archs.Arch, min_driver: int | None, debug: bool = False
) -> str:
    """The PTX ISA version to generate; ``debug``: the text holds debug sections.

    Raises FC0211 for an arch that cannot be built, FC0236 for a driver that is too old.
    """
    chosen = toolchain.ptx_isa_for(arch, min_driver, _DEBUG_ISA if debug else "0")
    if arch.is_ptx or min_driver is not None:
        return chosen
    newest = min(toolchain.llvm.max_ptx_isa, toolchain.ptxas.max_ptx_isa, key=numbers)
    return max(newest, chosen, key=numbers)


class _Wanted(NamedTuple):
    """One output: the arch and the file."""

    arch: archs.Arch
    output: str


def _wanted(args: argparse.Namespace) -> list[_Wanted]:
    wanted = [_Wanted(archs.parse_one(args.arch), args.output)]
    for text in args.also:
        arch, equals, output = text.partition("=")
        if not equals or not output:
            fail(errors.BAD_OPTION, "--also", f"{text!r} is not ARCH=FILE")
        wanted.append(_Wanted(archs.parse_one(arch), output))
    named = [("--output" if not i else "--also", each.output) for i, each in enumerate(wanted)]
    outputs = [each.output for each in wanted]
    for output in sorted({o for o in outputs if outputs.count(o) > 1}):
        fail(errors.BAD_OPTION, "--also", f"{output} is the output of two architectures")
    named += [("--time-trace", args.time_trace), ("--remarks", args.remarks)]
    distinct(errors.BAD_OPTION, named, [args.linked, args.toolchain, args.manifest])
    return wanted


def _jobs(
    args: argparse.Namespace, wanted: list[_Wanted], toolchain: identity.Identity
) -> list[generate.Job]:
    level, size = LEVELS[args.opt_level]
    tuning = Tuning(args.inline_threshold, not args.no_unroll, not args.no_vectorize, size)
    chosen = policy.Policy(
        args.ftz, args.div, args.sqrt, args.contract, args.debug, tuple(args.llvm_option)
    )
    engine = choose(args.engine, toolchain.rustc.llvm)
    if args.llvm_option:
        from fatcrate.lto import llvmoptions

        llvmoptions.check(engine, args.llvm_option)
    with open(args.linked, "rb") as stream:
        linked = stream.read()
    debug = args.debug == "full" and policy.has_debug_info(linked)
    jobs = []
    for each in wanted:
        isa = ptx_isa(toolchain, each.arch, args.min_driver, debug)
        features = f"+ptx{isa.replace('.', '')}"
        target = Target(names.NVPTX_TRIPLE, each.arch.target_cpu, features, level)
        job = generate.Job(linked, args.linked, each.arch, target, tuning, chosen, engine)
        job = job._replace(emit=args.emit, number_places=args.number_places)
        jobs.append(job._replace(trace=args.time_trace or "", remarks=args.remarks or ""))
    return jobs


def main(argv: list[str]) -> int:
    """Runs ``fatcrate codegen``."""
    args = parser().parse_args(argv)
    wanted = _wanted(args)
    toolchain = identity.load(args.toolchain)
    manifest = manifests.load(args.manifest)
    if len(wanted) > 1 and (args.time_trace or args.remarks):
        fail(errors.BAD_OPTION, "--also", "does not go with --time-trace and --remarks")
    jobs = _jobs(args, wanted, toolchain)
    results = generate.generate_all(
        jobs, workers=args.jobs, timeout=args.timeout, sharing=not args.no_share
    )
    faults = Collector()
    for each, job, ptx in zip(wanted, jobs, results, strict=True):
        try:
            if isinstance(ptx, isolate.Failed):
                raise _explained(ptx.error, job, manifest, args, argv, toolchain)
            text = emit.pin_files(ptx)
            kernels = [k.name for k in manifest.kernels]
            if job.emit == "asm":
                emit.check_kernels(emit.entries(text), kernels, str(each.arch))
            atomic.write_text(each.output, text)
        except FatcrateError as error:
            faults.absorb(error)
    faults.check()
    return 0


def _explained(
    error: isolate.Crash | FatcrateError,
    job: generate.Job,
    manifest: manifests.Manifest,
    args: argparse.Namespace,
    argv: list[str],
    toolchain: identity.Identity,
) -> FatcrateError:
    """A failure as the user reads it; a crash leaves a reproducer beside the output."""
    if isinstance(error, FatcrateError):
        return error
    from fatcrate.lto import blame

    fault = blame.describe_crash(error, job, manifest, args.timeout)
    return repro.attach(FatcrateError(fault), args.output, _capture(args, argv, toolchain))


def _capture(
    args: argparse.Namespace, argv: list[str], toolchain: identity.Identity
) -> repro.Reproducer:
    inputs = {
        args.linked: "linked.bc",
        args.manifest: "manifest.json",
        args.toolchain: "toolchain.json",
    }
    made = repro.capture("codegen", argv, inputs, toolchain.versions())
    outputs = {args.output: "@output.ptx"}
    for text in args.also:
        arch = text.split("=", 1)[0]
        outputs[text] = f"{arch}=@output.{arch}.ptx"
    return made._replace(argv=[outputs.get(word, word) for word in made.argv])

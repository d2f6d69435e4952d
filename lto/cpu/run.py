"""``fatcrate run``: one launch of a kernel on the CPU.

What it runs is built first, by a front end that the root command hands in: this package knows
of none.
"""

from __future__ import annotations

import argparse
import io
import json
import os
from pathlib import Path
from typing import Protocol

import numpy as np
from fatcrate.lto.codegen import LEVELS
from fatcrate.lto.cpu import errors, spec
from fatcrate.lto.cpu.arena import GUARD_BYTES
from fatcrate.lto.cpu.arguments import describe
from fatcrate.lto.cpu.module import (
    DIVERGENCES,
    HEAP_BYTES,
    IN_ORDER,
    STACK_BYTES,
    TIMEOUT,
    Module,
    Result,
    nearest,
    parse_schedule,
)
from fatcrate.lto.cpu.prepare import STAGES
from fatcrate.toolchain import atomic
from fatcrate.toolchain import manifest as manifests
from fatcrate.toolchain.diagnostics import fail
from fatcrate.toolchain.manifest import Kernel, Manifest

_DESCRIPTION = """\
Runs a kernel of a target on this machine's CPU: the crates' own device code, with the CPU's
primitives and math functions in place of the GPU's. Arithmetic gives the GPU's bits; math
functions are within 4 units in the last place.

Crates that changed are compiled and linked first, as `fatcrate build` does it; no image is
made for a GPU.
"""

_EPILOG = """\
arguments, in the order of the kernel's machine parameters (a slice is pointer and length):
  1024, -1, 0x10, 2.5         a number for a scalar
  in:FILE.npy                 an array that the kernel reads
  inout:FILE.npy              an array that is written back to its file
  out:FILE.npy:f32:1024       a fresh buffer (filled with 0xFF) that is written to a file
  zeros:f32:32x32[:FILE.npy]  a buffer of zeros, written to a file if one is named
  null                        a null pointer
element types: f16 f32 f64, i8 to i64, u8 to u64, bool

examples:
  fatcrate run demo saxpy --grid 4 --block 128 --arg 512 --arg 2.5 \\
      --arg in:x.npy --arg inout:y.npy
  fatcrate run demo saxpy --list
  fatcrate run demo reduce --grid 8 --block 256 --stage unoptimised --schedule shuffled:7 \\
      --arg in:x.npy --arg 2048 --arg out:sums.npy:f32:8
  fatcrate run --module linked.bc --manifest demo.manifest.json saxpy --grid 1 --block 32 …
"""


class Front(Protocol):
    """Builds what is run."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds ``-C``, ``--out`` and options about the build."""

    def build(self, args: argparse.Namespace) -> int:
        """Brings what runs of target ``args.names[0]`` up to date; returns the exit code.

        Leaves the output folder's path in ``args.out``.
        """


def parser(front: Front) -> argparse.ArgumentParser:
    """The command line of ``fatcrate run``."""
    p = argparse.ArgumentParser(
        prog="fatcrate run",
        usage="fatcrate run TARGET KERNEL --grid N --block N [--arg ARG]… [option…]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = p.add_argument
    add("names", nargs="*", metavar="TARGET KERNEL", help="with --module, the kernel alone")
    add("--grid", default="1", metavar="X[,Y[,Z]]", help="blocks (default: 1)")
    add("--block", default="1", metavar="X[,Y[,Z]]", help="threads per block (default: 1)")
    add("--arg", action="append", default=[], metavar="ARG", help="an argument; see below")
    add(
        "--types",
        default="",
        metavar="LIST",
        help="Rust types of the parameters, which arguments must have: 'u32,f32,*mut f32'",
    )
    add("--shared-bytes", type=int, default=0, metavar="N", help="dynamic shared memory")
    front.add_options(p)
    add("--module", metavar="LINKED.bc", help="run this linked module instead of a target's")
    add("--manifest", metavar="JSON", help="the manifest that belongs to --module")
    add(
        "--stage",
        choices=STAGES,
        default="linked",
        help="code as merged, or after the target's optimiser (default: linked)",
    )
    add("--opt-level", choices=sorted(LEVELS), default="3", help="of --stage linked (default: 3)")
    add(
        "--schedule",
        default=IN_ORDER,
        metavar="ORDER",
        help="in-order or shuffled:SEED: in which order threads and blocks take turns",
    )
    add("--timeout", type=float, default=TIMEOUT, metavar="S", help="seconds (default: 60)")
    add("--allow-traps", action="store_true", help="report threads that trap, but succeed")
    add(
        "--divergence",
        choices=DIVERGENCES,
        default="error",
        help="barriers that not all threads reach (default: error)",
    )
    add("--stack-bytes", type=int, default=STACK_BYTES, metavar="N", help="stack of a thread")
    add(
        "--heap-bytes",
        type=int,
        default=HEAP_BYTES,
        metavar="N",
        help="size of the device's heap (default: 8 MiB, as on a GPU)",
    )
    add("--guard-bytes", type=int, default=GUARD_BYTES, metavar="N", help="around each buffer")
    add("--list", action="store_true", help="list the kernels and their parameters, and stop")
    add("--json", action="store_true", help="print the result as JSON")
    return p


def _check_names(args: argparse.Namespace) -> None:
    """What to run is said completely, once."""
    wanted = (0, 1) if args.module else (1, 2)
    if len(args.names) not in (wanted[1], *wanted[: 1 if args.list else 0]):
        form = "KERNEL" if args.module else "TARGET KERNEL"
        fail(errors.BAD_SPEC, " ".join(args.names), f"expected {form}", remedy="see --help")
    if bool(args.module) != bool(args.manifest):
        fail(errors.BAD_SPEC, "--module", "--module and --manifest belong together")


def _locate(args: argparse.Namespace) -> tuple[str, Manifest, str]:
    """The linked module's path, its manifest, and the kernel's name ("" with --list)."""
    if args.module:
        return args.module, manifests.load(args.manifest), args.names[0] if args.names else ""
    target = args.names[0]
    out = args.out
    name = args.names[1] if len(args.names) > 1 else ""
    manifest = os.path.join(out, f"{target}.manifest.json")
    folder = os.path.join(out, target)
    whole = (os.path.join(folder, "linked.bc"), manifest)
    parts = [] if os.path.exists(whole[0]) else _partitions(folder)
    missing = [
        path for path in (manifest if parts else whole[0], manifest) if not os.path.isfile(path)
    ]
    if missing:
        fail(
            errors.NOT_BUILT,
            target,
            f"{missing[0]} is not there",
            remedy=f"{nearest(target, _built(out))}run `fatcrate build {target}`, or name the"
            " output folder with --out",
        )
    if not parts or not name:
        return whole[0], manifests.load(manifest), name
    loaded = [(module, manifests.load(path)) for module, path in parts]
    return (*next((each for each in loaded if each[1].kernel(name)), loaded[0]), name)


def _built(out: str) -> list[str]:
    """Targets that an output folder holds."""
    ending = ".manifest.json"
    names = os.listdir(out) if os.path.isdir(out) else []
    return [name.removesuffix(ending) for name in names if name.endswith(ending)]


def _partitions(folder: str) -> list[tuple[str, str]]:
    """Linked module and manifest of each partition of a target, sorted."""
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    parts = [os.path.join(folder, name) for name in names]
    found = [(os.path.join(p, "linked.bc"), os.path.join(p, "manifest.json")) for p in parts]
    return [pair for pair in found if all(map(os.path.isfile, pair))]


def _signature(kernel: Kernel) -> str:
    parameters = ", ".join(describe(p).split("(", 1)[1][:-1] for p in kernel.parameters)
    shared = f", {kernel.static_shared} bytes of shared memory" if kernel.static_shared else ""
    dynamic = ", dynamic shared memory" if kernel.uses_dynamic_shared else ""
    return f"{kernel.name}({parameters}){shared}{dynamic}"


def _check_numbers(args: argparse.Namespace) -> None:
    if not 0 < args.timeout < 1e9:
        fail(errors.BAD_SPEC, "--timeout", f"{args.timeout:g} is not a number of seconds above 0")
    for option, least, most in (
        ("shared-bytes", 0, 1 << 31),
        ("stack-bytes", 4096, 1 << 28),
        ("guard-bytes", 0, 1 << 30),
        ("heap-bytes", 0, 1 << 40),
    ):
        number = getattr(args, option.replace("-", "_"))
        if not least <= number <= most:
            fail(errors.BAD_SPEC, f"--{option}", f"{number} is outside of {least} to {most}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _report(args: argparse.Namespace, result: Result, written: list[Path]) -> None:
    if args.json:
        value = {
            "kernel": result.kernel,
            "blocks": result.blocks,
            "threads": result.threads,
            "seconds": result.seconds,
            "trap_count": result.trap_count,
            "traps": [
                {"block": t.block, "thread": t.thread, "where": t.where} for t in result.traps
            ],
            "written": [str(p) for p in written],
        }
        print(json.dumps(value, indent=2))
        return
    line = (
        f"{result.kernel}: {_count(result.threads, 'thread')} in {_count(result.blocks, 'block')}"
    )
    print(f"{line}, {result.seconds * 1000:.1f} ms on the CPU ({args.stage} code)")
    for trap in result.traps:
        print(f"trapped: block {trap.block}, thread {trap.thread}, in {trap.where}")
    if result.trap_count > len(result.traps):
        print(f"trapped: {result.trap_count - len(result.traps)} more")
    for path in written:
        print(f"wrote {path}")


def _joined(argv: list[str]) -> list[str]:
    """``--arg -1e-3`` as ``--arg=-1e-3``, which argparse does not take for an option."""
    made: list[str] = []
    for word in argv:
        if made and made[-1] == "--arg" and word.startswith("-") and not word.startswith("--"):
            made[-1] = f"--arg={word}"
        else:
            made.append(word)
    return made


def main(argv: list[str], front: Front) -> int:
    """Runs ``fatcrate run``, what ``front`` builds."""
    args = parser(front).parse_args(_joined(argv))
    _check_numbers(args)
    _check_names(args)
    grid = spec.parse_size("--grid", args.grid)
    block = spec.parse_size("--block", args.block)
    parse_schedule(args.schedule)
    if not args.module and (code := front.build(args)):
        return code
    linked, manifest, name = _locate(args)
    if args.list:
        for kernel in sorted(manifest.kernels, key=lambda k: k.name):
            print(_signature(kernel))
        return 0
    kernel_or_none = manifest.kernel(name)
    with Module(linked, manifest, stage=args.stage, opt_level=args.opt_level) as module:
        given = spec.parse_arguments(kernel_or_none, args.arg) if kernel_or_none else []
        result = module.launch(
            name,
            grid=grid,  # type: ignore[arg-type]
            block=block,  # type: ignore[arg-type]
            args=[g.value for g in given],
            types=args.types.split(",") if args.types else (),
            shared_bytes=args.shared_bytes,
            schedule=args.schedule,
            timeout=args.timeout,
            allow_traps=args.allow_traps,
            divergence=args.divergence,
            stack_bytes=args.stack_bytes,
            guard_bytes=args.guard_bytes,
            heap_bytes=args.heap_bytes,
        )
    written = []
    for each in given:
        if each.output is not None:
            stream = io.BytesIO()
            np.save(stream, np.asarray(each.value))
            atomic.write_bytes(each.output, stream.getvalue())
            written.append(each.output)
    _report(args, result, written)
    return 0

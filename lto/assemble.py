"""ASSEMBLE: ``fatcrate assemble``. PTX to a cubin with ptxas, and a report of resources.

The report is JSON: ``version``, ``arch``, ``options``, ``ptxas`` (version), ``warnings``
(texts) and ``kernels``, sorted by name, each with ``name``, ``registers``, ``stack``,
``spill_stores``, ``spill_loads``, ``shared`` (static, with what ptxas reserves), ``local``,
``constant`` (bank 0), all in bytes but the registers, ``barriers``, and ``occupancy``: threads
per block -> share of the SM's warps that can run at once (0 to 1). The stack is that of the
kernel with all that it calls; ``stack_known`` is false where recursion or a call through a
pointer leaves ptxas without a bound, and ``stack`` is then the least that is taken.
``called_spills`` are the bytes that called functions store and load, registers saved for their
callers among them.

With ``--relocatable`` (for `fatcrate nvlink`) the stack is the kernel's own, as the rest is known
after linking only. Each kernel then also has ``whole``: ``registers`` and ``stack`` that it takes
when assembled as a whole program; what it pays is a warning.

Budgets (``--budget``) are checked against these numbers; a kernel that exceeds one fails the
step. Spills are warned about where no budget speaks of them.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import re
import struct
import subprocess
from typing import Any, NamedTuple, NoReturn

from fatcrate.lto import budget, errors
from fatcrate.lto.budget import Resources
from fatcrate.toolchain import arch as archs
from fatcrate.toolchain import atomic, identity
from fatcrate.toolchain.diagnostics import (
    Collector,
    Diagnostic,
    FatcrateError,
    Location,
    fail,
    report,
)
from fatcrate.toolchain.usage import command_parser, distinct, seconds

REPORT_VERSION = 1

_EPILOG = """\
examples:
  fatcrate assemble --arch sm_90 --ptxas /usr/local/cuda/bin/ptxas \\
      --toolchain toolchain.json --output sm_90.cubin --report sm_90.json sm_90.ptx
  fatcrate assemble … --ptxas-option=-O2 --ptxas-option=--maxrregcount=64 sm_90.ptx
  fatcrate assemble … --budget max_registers=64 --budget reduce:min_occupancy=0.5@256 sm_90.ptx
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate assemble``."""
    p = command_parser(
        "fatcrate assemble",
        "Assembles PTX to a cubin with ptxas and reports each kernel's resources.",
        _EPILOG,
    )
    p.add_argument("ptx", metavar="PTX", help="output of `fatcrate codegen`")
    p.add_argument("--arch", required=True, help="sm_90, sm_90a, …")
    p.add_argument("--ptxas", required=True, metavar="PATH", help="NVIDIA's assembler")
    p.add_argument("--toolchain", required=True, metavar="JSON", help="toolchain identity")
    p.add_argument("--output", required=True, metavar="CUBIN", help="the cubin")
    p.add_argument("--report", required=True, metavar="JSON", help="the resource report")
    p.add_argument(
        "--ptxas-option",
        action="append",
        default=[],
        metavar="OPTION",
        help="an option for ptxas, such as --ptxas-option=-O2 (may be repeated)",
    )
    p.add_argument(
        "--relocatable",
        action="store_true",
        help="make a cubin for `fatcrate nvlink`, and report what that costs each kernel",
    )
    p.add_argument(
        "--partial",
        action="store_true",
        help="the PTX is a partition's: budgets may name kernels of others",
    )
    p.add_argument(
        "--timeout",
        type=seconds,
        default=900.0,
        metavar="SECONDS",
        help="end ptxas after this time (default: %(default)s)",
    )
    p.add_argument(
        "--budget",
        action="append",
        default=[],
        metavar="[KERNEL:]NAME=VALUE",
        help=f"a limit for all kernels or one: {', '.join(budget.NAMES)}; min_occupancy is a"
        " share from 0 to 1 for blocks of a size, as in min_occupancy=0.5@256",
    )
    return p


_COMPILING = re.compile(r"Compiling entry function '([^']+)' for '([^']+)'")
_PROPERTIES = re.compile(r"Function properties for (\S+)")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers(.*)")
_AMOUNT = re.compile(
    r"(\d+) (barriers|bytes smem|bytes lmem|bytes cmem\[0\]|bytes cumulative stack size)"
)
_FIELDS = {
    "barriers": "barriers",
    "bytes smem": "shared",
    "bytes lmem": "local",
    "bytes cmem[0]": "constant",
    "bytes cumulative stack size": "stack",
}
_NO_BOUND = re.compile(r"Stack size for entry function '([^']+)' cannot be statically determined")


def parse_resources(text: str, own: bool = False) -> list[Resources]:
    """Reads ``ptxas -v``; one entry per kernel, sorted by name.

    After each kernel stand the functions that it calls; with ``own`` they do not count.
    """
    found: dict[str, Resources] = {}
    unbounded = {match[1] for match in _NO_BOUND.finditer(text)}
    kernel = described = ""
    for line in text.splitlines():
        if match := _COMPILING.search(line):
            kernel = described = match[1]
            found.setdefault(kernel, Resources(kernel, stack_known=kernel not in unbounded))
        elif match := _PROPERTIES.search(line):
            described = match[1]
        elif (match := _FRAME.search(line)) and kernel:
            stack, stores, loads = map(int, match.groups())
            if described == kernel:
                found[kernel] = found[kernel]._replace(
                    stack=stack, spill_stores=stores, spill_loads=loads
                )
            elif not own:
                found[kernel] = _with_called(found[kernel], stack, stores + loads)
        elif (match := _USED.search(line)) and kernel:
            amounts: dict[str, Any] = {
                _FIELDS[unit]: int(n) for n, unit in _AMOUNT.findall(match[2])
            }
            if own:
                amounts.pop("stack", None)
            found[kernel] = found[kernel]._replace(registers=int(match[1]), **amounts)
    return [found[name] for name in sorted(found)]


def _with_called(kernel: Resources, stack: int, spills: int) -> Resources:
    """Counts a called function in: where there is no bound, its frame is a part of the least."""
    return kernel._replace(
        stack=max(kernel.stack, stack), called_spills=kernel.called_spills + spills
    )


_MESSAGE = re.compile(
    r"^ptxas (?:(?P<file>.*?), line (?P<line>\d+); )?"
    r"(?P<severity>fatal|error|warning)\s*: (?P<text>.*)$"
)


def parse_messages(text: str, ptx: str, file: str) -> list[Diagnostic]:
    """Errors and warnings of ptxas, each with its PTX line and the kernel around it."""
    lines = ptx.splitlines()
    found = []
    for line in text.splitlines():
        match = _MESSAGE.match(line)
        if not match or match["text"].startswith("Ptx assembly aborted"):
            continue
        kind = errors.PTXAS_WARNING if match["severity"] == "warning" else errors.PTXAS_FAILED
        number = int(match["line"]) if match["line"] else None
        excerpt = lines[number - 1].strip() if number and number <= len(lines) else None
        where = Location(file, number, excerpt=excerpt)
        named = _NAMED.search(match["text"])
        subject = named[1] if named else _kernel_at(lines, number) or os.path.basename(file)
        found.append(Diagnostic(kind, subject, match["text"].strip(), location=where))
    return found


_NAMED = re.compile(r"(?:entry function|function|entry) '([A-Za-z_$%][\w$]*)'")
_FUNCTION = re.compile(r"\.(?:entry|func)\b\s*(?:\([^)]*\)\s*)?([A-Za-z_$%][\w$]*)")


def _kernel_at(lines: list[str], number: int | None) -> str:
    """The kernel or function whose text holds a line."""
    for line in reversed(lines[: number or 0]):
        if line.rstrip() == "}" and line != lines[(number or 1) - 1]:
            return ""
        if match := _FUNCTION.search(line):
            return match[1]
    return ""


def main(argv: list[str]) -> int:
    """Runs ``fatcrate assemble``."""
    args = parser().parse_args(argv)
    named = [("--output", args.output), ("--report", args.report)]
    distinct(errors.BAD_OPTION, named, [args.ptx, args.toolchain, args.ptxas])
    arch = archs.parse_one(args.arch)
    toolchain = identity.load(args.toolchain)
    toolchain.check_arch(arch)
    budgets = budget.parse(args.budget)
    _check_options(args.ptxas_option)
    ptx = _read_ptx(args.ptx)
    with atomic.atomic_output(args.output) as output:
        options = [*(["-c"] if args.relocatable else []), *args.ptxas_option]
        whole: list[Resources] = []
        if args.relocatable:
            alone = run_ptxas(
                args.ptxas, arch, args.ptx, output.name, args.ptxas_option, args.timeout
            )
            whole = parse_resources(alone.output, own=True)
        done = run_ptxas(args.ptxas, arch, args.ptx, output.name, options, args.timeout)
        faults = _judge(done, ptx, args.ptx)
        if _crashed(done, faults):
            raise _crash(done, arch, args, argv, toolchain.versions())
        faults.check()
        kernels = parse_resources(done.output, own=args.relocatable)
        for message in (
            *budget.check(kernels, budgets, arch, args.partial),
            *budget.relocation_costs(kernels, whole, arch),
        ):
            faults.add(message)
        faults.check()
        _check_complete(output.name)
        value = {
            "version": REPORT_VERSION,
            "arch": str(arch),
            "options": args.ptxas_option,
            "ptxas": toolchain.ptxas.version,
            "kernels": budget.report(kernels, arch, whole),
            "warnings": sorted(w.message for w in faults.warnings),
        }
        atomic.write_text(args.report, json.dumps(value, indent=2, sort_keys=True) + "\n")
    report(faults.warnings)
    return 0


#: Options of ptxas that the step sets itself -> its own option for that.
_OURS = {
    "arch": "--arch",
    "gpu-name": "--arch",
    "o": "--output",
    "output-file": "--output",
    "c": "--relocatable",
    "compile-only": "--relocatable",
}


def _check_options(options: list[str]) -> None:
    """Raises FC0340 for an option that would make another image than the report tells of."""
    for option in options:
        ours = _OURS.get(option.split("=", 1)[0].lstrip("-"))
        if ours and option.startswith("-"):
            fail(
                errors.BAD_OPTION,
                "--ptxas-option",
                f"{option!r} is set by fatcrate",
                remedy=f"use {ours}",
            )


def _read_ptx(path: str) -> str:
    """The PTX text. Raises FC0334 for a file that is none."""
    with open(path, "rb") as stream:
        data = stream.read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        _not_ptx(path, "is not UTF-8 text", error.start)
    if "\0" in text:
        _not_ptx(path, "holds a NUL byte", data.index(0))
    return text


def _not_ptx(path: str, what: str, offset: int) -> NoReturn:
    fail(
        errors.NOT_PTX,
        os.path.basename(path),
        what,
        remedy="give it the output of `fatcrate codegen`",
        location=Location(path, offset=offset),
    )


#: ELF64, little endian ("System V ABI", chapters 4 and 5): the fields of the file header, a
#: section header and a program header that say where things end.
_FILE_HEADER = struct.Struct("<16x16xQQ6xHHHH")
_SECTION = struct.Struct("<4xI16xQQ")
_NOBITS = 8


def _check_complete(path: str) -> None:
    """Raises ``OSError`` for a cubin shorter than its own headers say.

    ptxas reports success when the disk was full before all was written.
    """
    with open(path, "rb") as stream:
        data = stream.read()
    if _elf_end(data) > len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)


def _elf_end(data: bytes) -> int:
    """How long an ELF file must be, by those of its headers that are there."""
    if len(data) < 64:
        return 64
    program, section, program_size, programs, section_size, sections = _FILE_HEADER.unpack_from(
        data
    )
    end = max(program + program_size * programs, section + section_size * sections)
    for index in range(sections):
        at = section + index * section_size
        if at + _SECTION.size > len(data):
            break
        kind, offset, size = _SECTION.unpack_from(data, at)
        if kind != _NOBITS:
            end = max(end, offset + size)
    return int(end)


class Run(NamedTuple):
    """How ptxas ended, and what it said. ``code``: negative for a signal; None: too slow."""

    code: int | None
    output: str


def _judge(done: Run, ptx: str, file: str) -> Collector:
    """What ptxas said, as diagnostics."""
    faults = Collector()
    for message in parse_messages(done.output, ptx, file):
        faults.add(message)
    return faults


def _crashed(done: Run, faults: Collector) -> bool:
    """Whether ptxas ended without a result and without a word about the PTX."""
    return done.code is None or done.code < 0 or (done.code > 0 and not faults.errors)


def _crash(
    done: Run, arch: archs.Arch, args: argparse.Namespace, argv: list[str], versions: dict[str, str]
) -> FatcrateError:
    """The error for ptxas that crashed or did not finish, with a reproducer beside the output."""
    from fatcrate.lto import isolate, repro

    begun = _COMPILING.findall(done.output)
    remedy = "run it again; report it with the reproducer if it happens again"
    if done.code is None:
        how, remedy = "did not finish in time", "raise --timeout, or lower -O with --ptxas-option"
    elif done.code < 0:
        how, remedy = isolate.ended_by(-done.code), isolate.remedy(-done.code) or remedy
    else:
        how = f"exited with code {done.code}"
    fault = Diagnostic(
        errors.PTXAS_FAILED,
        begun[-1][0] if begun else os.path.basename(args.ptx),
        f"ptxas for {arch} {how}",
        remedy,
        notes=tuple(done.output.strip().splitlines()[-5:]),
    )
    inputs = {args.ptx: "input.ptx", args.toolchain: "toolchain.json"}
    swapped = {args.output: "@output.cubin", args.report: "@report.json", args.ptxas: repro.PTXAS}
    made = repro.capture("assemble", argv, inputs, versions)
    made = made._replace(argv=[swapped.get(word, word) for word in made.argv])
    return repro.attach(FatcrateError(fault), args.output, made)


def run_ptxas(
    ptxas: str,
    arch: archs.Arch,
    ptx: str,
    output: str,
    options: list[str],
    timeout: float | None = None,
) -> Run:
    """Runs ptxas, for ``timeout`` seconds at most. Raises FC0332 when it cannot be started."""
    command = [ptxas, "-v", f"-arch={arch.target_cpu}", *options, "-o", output, ptx]
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={},
            check=False,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired as late:
        return Run(None, (late.stdout or b"").decode("utf-8", "replace"))
    except OSError as error:
        fail(
            errors.PTXAS_MISSING,
            ptxas,
            error.strerror or str(error),
            remedy="fatcrate doctor names the command that installs ptxas",
        )
    return Run(done.returncode, done.stdout.decode("utf-8", "replace"))

"""LINK: ``fatcrate link``. All crates of a target to one module, its manifest and a report.

The linked module (LLVM bitcode for ``nvptx64-nvidia-cuda``) is not optimised and belongs to
no architecture yet. What its readers (CODEGEN, the CPU runner) may rely on:

* every kernel is a definition with external linkage and calling convention 71; host-visible
  statics keep name and linkage; everything else is internal, and what no root needs is gone;
* the arch queries ``__fc_arch`` and ``__fc_has`` are the only primitives without a body;
* every other primitive in use is an internal ``alwaysinline`` function under its own name
  ``__fc_*``, not inlined, so that its body can be replaced;
* static shared memory is ``<symbol>.mem``, an internal address-space-3 global of type
  ``[size x i8]``, returned by the internal ``alwaysinline`` function ``<symbol>``; dynamic
  shared memory is the external ``__fc_dynamic_shared.mem``, ``[0 x i8]``;
* math intrinsics that NVPTX cannot select are calls of libdevice's ``__nv_*``, defined in the
  module as internal functions; their ``__nvvm_reflect`` queries are open until CODEGEN;
* beside these only the driver's ``malloc``, ``free``, ``vprintf`` and ``__assertfail`` may be
  undefined. ``malloc`` and ``free`` come from the default allocator shim.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import os
from collections.abc import Sequence

from fatcrate.lto import (
    archive,
    engine,
    errors,
    explain,
    inputs,
    isolate,
    merge,
    missing,
    options,
    repro,
    resolve,
)
from fatcrate.lto.inputs import Member, Unit
from fatcrate.lto.selection import Planned, Selection, parse_places, read_plan
from fatcrate.toolchain import atomic, identity, names, schema
from fatcrate.toolchain.diagnostics import (
    Collector,
    Diagnostic,
    FatcrateError,
    fail,
    report,
)
from fatcrate.toolchain.manifest import Input, Manifest
from fatcrate.toolchain.usage import command_parser, distinct

PRIMITIVES = os.path.join(os.path.dirname(__file__), "backends", "nvptx.ll")
REPORT_VERSION = 1

_EPILOG = """\
examples:
  fatcrate link --name demo --toolchain toolchain.json --libdevice libdevice.10.bc \\
      --crate mathlib=libmathlib.rlib --crate kern=libkern.rlib \\
      --sysroot-crate core=sysroot/lib/rustlib/nvptx64-nvidia-cuda/lib/libcore.rlib \\
      --output demo.bc --manifest demo.manifest.json --report demo.link.json
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate link``."""
    p = command_parser(
        "fatcrate link",
        "Links device crates to one module whose arch queries are still open.",
        _EPILOG,
    )
    p.add_argument("--name", required=True, help="the target's name")
    p.add_argument("--toolchain", required=True, metavar="JSON", help="toolchain identity")
    p.add_argument("--libdevice", required=True, metavar="BC", help="NVIDIA's math library")
    p.add_argument("--output", required=True, metavar="BC", help="the linked module")
    p.add_argument("--manifest", required=True, metavar="JSON", help="the ABI manifest")
    p.add_argument("--report", required=True, metavar="JSON", help="what was linked and why")
    p.add_argument(
        "--crate",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="a crate to link whole: rlib, archive, bitcode, object with bitcode, textual IR",
    )
    p.add_argument(
        "--sysroot-crate",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="a library of which only what is needed is taken",
    )
    p.add_argument(
        "--export",
        action="append",
        default=[],
        metavar="KERNEL",
        help="export only the kernels named so (all of them without this option)",
    )
    _add_partition(p)
    _add_questions(p)
    options.add_engine(p)
    options.add_timeout(p)
    return p


def _add_partition(p: argparse.ArgumentParser) -> None:
    """Options that make a partition, and those that tell what the project names, and where."""
    p.add_argument(
        "--kernels-of",
        action="append",
        default=[],
        metavar="CRATE[/KERNEL]",
        help="make a partition: export the kernels of this crate only, or one of them"
        " (may be repeated)",
    )
    p.add_argument(
        "--leave",
        action="append",
        default=[],
        metavar="KERNEL",
        help="of the crates of --kernels-of, leave this kernel to another partition",
    )
    p.add_argument(
        "--plan", metavar="JSON", help="make the partition that --name names in this plan"
    )
    p.add_argument(
        "--budgeted",
        action="append",
        default=[],
        metavar="KERNEL",
        help="fail unless this kernel, for which there is a budget, is exported",
    )
    p.add_argument(
        "--place",
        action="append",
        default=[],
        metavar="NAME=PLACE",
        help="where the project names a kernel or symbol: FILE:LINE:COLUMN or a label",
    )


def _add_questions(p: argparse.ArgumentParser) -> None:
    """Options that ask about the link, answered on standard output."""
    p.add_argument(
        "--undefined",
        action="append",
        default=[],
        metavar="SYMBOL",
        help="keep the symbol, visible outside the module, though nothing refers to it",
    )
    p.add_argument(
        "--why",
        action="append",
        default=[],
        metavar="SYMBOL",
        help="print the chain of references that keeps the symbol (mangled or as in Rust)",
    )
    p.add_argument(
        "--trace-symbol",
        action="append",
        default=[],
        metavar="SYMBOL",
        help="print which inputs define and refer to the symbol",
    )
    p.add_argument("--print-gc", action="store_true", help="print each definition that was dropped")
    p.add_argument(
        "--wants-debug",
        action="store_true",
        help="warn of crates with kernels, but without debug information",
    )
    p.add_argument("--map", metavar="FILE", help="write what the module holds, by input")


def _pairs(values: list[str], option: str) -> list[tuple[str, str]]:
    pairs, faults = [], Collector()
    for value in values:
        name, equals, path = value.partition("=")
        if not equals or not name or not path:
            try:
                fail(errors.BAD_OPTION, option, f"{value!r} is not NAME=PATH")
            except FatcrateError as error:
                faults.absorb(error)
        pairs.append((name, path))
    faults.check()
    return pairs


class _Loaded:
    def __init__(self) -> None:
        self.crates: list[Unit] = []
        self.libraries: list[Unit] = []


_CRASHES = (errors.ENGINE_CRASH, errors.ENGINE_TIMEOUT)
_RAW = "raw"  # in place of a digest: the file as it is, in which LLVM crashed


def _load(
    args: argparse.Namespace,
    argv: list[str],
    planned: Planned | None,
    toolchain: identity.Identity,
) -> _Loaded:
    """Reads all inputs; faults of all of them are raised together."""
    faults, loaded = Collector(), _Loaded()
    crates = _pairs(args.crate, "--crate")
    if planned is not None:
        wanted_crates = set(planned.crates)
        crates = [pair for index, pair in enumerate(crates) if index in wanted_crates]
    libraries = _pairs(args.sysroot_crate, "--sysroot-crate")
    wanted: list[tuple[str, inputs.Kind, str, list[Unit]]] = [
        *((name, "crate", path, loaded.crates) for name, path in crates),
        *((name, "sysroot", path, loaded.libraries) for name, path in libraries),
        ("libdevice", "libdevice", args.libdevice, loaded.libraries),
    ]
    crashed = False
    for name, kind, path, units in wanted:
        try:
            units.append(inputs.load(name, kind, path, args.timeout))
        except FatcrateError as error:
            faults.absorb(error)
            if any(d.kind in _CRASHES for d in error.diagnostics):
                crashed = True
                raw = Member(os.path.basename(path), bytes(inputs.read_file(path)))
                units.append(Unit(name, kind, path, [raw], _RAW))
    if crashed:
        made = _capture(args, argv, loaded, toolchain)
        raise repro.attach(FatcrateError(*faults.errors), args.output, made)
    faults.check()
    # The order of the command line comes from that of `deps` in a project; no output shows it.
    loaded.crates.sort(key=lambda unit: (unit.name, unit.sha256))
    return loaded


def _linker_llvm(toolchain: identity.Identity) -> tuple[int, ...]:
    return tuple(int(part) for part in toolchain.llvm.version.split("."))


def main(argv: list[str]) -> int:
    """Runs ``fatcrate link``."""
    args = parser().parse_args(argv)
    given = ("--output", "--manifest", "--report", "--map")
    named = zip(given, (args.output, args.manifest, args.report, args.map), strict=True)
    distinct(errors.BAD_OPTION, named, [args.toolchain, args.libdevice])
    toolchain = identity.load(args.toolchain)
    planned = read_plan(args.plan, args.name) if args.plan else None
    loaded = _load(args, argv, planned, toolchain)
    inputs.check_targets(loaded.crates, names.NVPTX_TRIPLE, _linker_llvm(toolchain))
    table = resolve.build(loaded.crates)
    selection = _selection(args, planned)
    merging = functools.partial(_merge, args, argv, loaded, table, selection, toolchain)
    try:
        selection.check(loaded.crates, table, args.name, args.undefined, args.budgeted)
    except FatcrateError as error:
        raise missing.besides(error, lambda: merging(resolve.doubled(table))) from None
    merged = merging()
    manifest = Manifest(
        args.name,
        names.NVPTX_TRIPLE,
        merged.kernels,
        merged.statics,
        _inputs(loaded, merged),
        toolchain.versions(),
        mutable_statics=merged.mutable_statics,
        kernels_elsewhere=selection.elsewhere(table),
    )
    if args.wants_debug:
        report(explain.without_debug_info(loaded.crates, merged.kernels, args.name))
    _answer(args, loaded, table, merged)
    atomic.write_bytes(args.output, merged.bitcode)
    atomic.write_text(args.manifest, manifest.to_json())
    atomic.write_text(args.report, _report(args.name, loaded, merged))
    return 0


def _selection(args: argparse.Namespace, planned: Planned | None) -> Selection:
    kernels_of = planned.kernels_of if planned else args.kernels_of or None
    places = parse_places(args.place)
    return Selection(args.export, kernels_of, args.leave, places, planned is not None)


def _primitives() -> str:
    with open(PRIMITIVES, encoding="utf-8") as stream:
        return stream.read()


def _merge(
    args: argparse.Namespace,
    argv: list[str],
    loaded: _Loaded,
    table: resolve.Table,
    selection: Selection,
    toolchain: identity.Identity,
    doubled: Sequence[str] = (),
) -> merge.Merged:
    """Runs the LLVM part of the link in a child process."""
    request = merge.Request(
        args.name,
        loaded.crates,
        loaded.libraries,
        _primitives(),
        selection.exported(table),
        table,
        args.undefined,
        selection.whole_crates,
        doubled,
    )

    chosen = engine.choose(args.engine, toolchain.rustc.llvm)

    def work() -> merge.Merged:
        return merge.run(options.start(chosen), request, want_graph=bool(args.why or args.map))

    try:
        return isolate.run(work, timeout=args.timeout)
    except isolate.Crash as crash:
        fault = Diagnostic(
            errors.ENGINE_TIMEOUT if crash.timed_out else errors.ENGINE_CRASH,
            args.name,
            f"the process that runs LLVM {crash.reason()}",
            "raise --timeout"
            if crash.timed_out
            else isolate.remedy(crash.signal)
            or "one of the inputs may be damaged: build the crates again",
            notes=tuple(crash.stderr.strip().splitlines()[-5:]),
        )
        made = _capture(args, argv, loaded, toolchain)
        raise repro.attach(FatcrateError(fault), args.output, made) from crash


def _capture(
    args: argparse.Namespace, argv: list[str], loaded: _Loaded, toolchain: identity.Identity
) -> repro.Reproducer:
    """The link's command line and inputs; of an archive only the modules are kept."""
    made = repro.capture("link", argv, {args.toolchain: "toolchain.json"}, toolchain.versions())
    swapped = {
        args.output: "@output.bc",
        args.manifest: "@output.json",
        args.report: "@report.json",
    }
    words = [swapped.get(word, word) for word in made.argv]
    for number, unit in enumerate([*loaded.crates, *loaded.libraries]):
        if unit.sha256 == _RAW:
            name = f"{number}-{os.path.basename(unit.path)}"
            made.files[name] = unit.members[0].data
        else:
            name = f"{number}-{unit.name}.a"
            made.files[name] = archive.write([(m.name, m.data) for m in unit.members])
        words = [
            f"@{name}"
            if word == unit.path
            else word.replace(f"={unit.path}", f"=@{name}")
            if word.endswith(f"={unit.path}")
            else word
            for word in words
        ]
    return made._replace(argv=words)


def _answer(
    args: argparse.Namespace, loaded: _Loaded, table: resolve.Table, merged: merge.Merged
) -> None:
    """Prints what was asked about the link. Raises FC0325 for symbols that no input has."""
    kept, faults = set(merged.kept), Collector()
    for wanted in args.trace_symbol:
        lines = explain.trace(wanted, loaded.crates, loaded.libraries)
        if not lines:
            faults.add(explain.unknown(wanted, table, "--trace-symbol"))
        print("\n".join(lines), end="\n" if lines else "")
    for wanted in args.why:
        lines = explain.why(wanted, merged.edges or {}, merged.roots, table, kept)
        if not lines:
            faults.add(explain.unknown(wanted, table, "--why"))
        print("\n".join(lines), end="\n" if lines else "")
    if args.print_gc:
        for line in explain.garbage(loaded.crates, kept):
            print(line)
    faults.check()
    if args.map:
        text = explain.link_map(args.name, merged.definitions, table, loaded.libraries)
        atomic.write_text(args.map, text)


def _inputs(loaded: _Loaded, merged: merge.Merged) -> list[Input]:
    """Inputs that went in: crates always, libraries when something was taken from them."""
    used = [Input(u.name, u.kind, u.sha256) for u in loaded.crates]
    for unit in loaded.libraries:
        if f"{unit.kind}:{unit.name}" in merged.supplied:
            used.append(Input(unit.name, unit.kind, unit.sha256))
    digest = hashlib.sha256(_primitives().encode("utf-8")).hexdigest()
    return [*used, Input("nvptx", "primitives", digest)]


def _report(name: str, loaded: _Loaded, merged: merge.Merged) -> str:
    """JSON: per crate how many definitions were kept and pruned, and what libraries gave."""
    kept = set(merged.kept)
    crates = []
    for unit in loaded.crates:
        defined = explain.dropped(unit, set())
        pruned = explain.dropped(unit, kept)
        crates.append(
            {
                "crate": unit.name,
                "bytes": sum(len(m.data) for m in unit.members),
                "defined": len(defined),
                "kept": len(defined) - len(pruned),
                "pruned": pruned,
            }
        )
    value = {
        "version": REPORT_VERSION,
        "name": name,
        "kernels": [k.name for k in merged.kernels],
        "crates": crates,
        "libraries": merged.supplied,
        "kept": merged.kept,
        "linked_bytes": len(merged.bitcode),
    }
    return schema.document(value)

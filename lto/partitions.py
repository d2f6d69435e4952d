"""``fatcrate merge-manifests``: one manifest of a target whose kernels are in several modules.

Each partition is linked by itself (``fatcrate link --kernels-of …``) and packed into its own
fat binary, since a container with two cubins of one SM loads only one of them. The combined
manifest tells which module holds which kernel. What must not be split is checked here, and
that no kernel is in no partition.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from fatcrate.lto import errors, symbols
from fatcrate.lto.selection import check_budgeted, parse_places
from fatcrate.toolchain import atomic
from fatcrate.toolchain import manifest as manifests
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, Location
from fatcrate.toolchain.manifest import Input, Manifest
from fatcrate.toolchain.usage import command_parser

_EPILOG = """\
examples:
  fatcrate merge-manifests --name demo --output demo.manifest.json \\
      image.manifest.json audio.manifest.json
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate merge-manifests``."""
    p = command_parser(
        "fatcrate merge-manifests",
        "Combines the manifests of a target's partitions.",
        _EPILOG,
    )
    p.add_argument("parts", nargs="+", metavar="MANIFEST", help="manifests of partitions")
    p.add_argument("--name", required=True, help="the target's name")
    p.add_argument("--output", required=True, metavar="JSON", help="the combined manifest")
    p.add_argument(
        "--one-module",
        action="store_true",
        help="the partitions are linked to one image again (`fatcrate nvlink`)",
    )
    for option in ("--export", "--budgeted", "--place"):
        p.add_argument(option, action="append", default=[], help="as of `fatcrate link`")
    return p


class Named(NamedTuple):
    """What the project says of kernels by name, and where."""

    exports: Sequence[str] = ()
    budgeted: Sequence[str] = ()
    places: Mapping[str, Location] = MappingProxyType({})


def combine(
    name: str, parts: Sequence[Manifest], one_module: bool = False, named: Named | None = None
) -> Manifest:
    """One manifest of all partitions. Raises FC0312, FC0314, FC0317, FC0328 and FC0329, all
    together."""
    faults = Collector()
    for fault in (*_twice(parts), *_split(parts), *_lost(parts), *_named(parts, named or Named())):
        faults.add(fault)
    faults.check()
    if one_module:
        parts = [part._replace(name="") for part in parts]
    inputs: dict[tuple[str, str, str], Input] = {}
    for part in parts:
        for each in part.inputs:
            inputs[each.kind, each.name, each.sha256] = each
    return Manifest(
        name,
        parts[0].target,
        sorted(
            (k._replace(module=part.name) for part in parts for k in part.kernels),
            key=lambda kernel: kernel.name,
        ),
        sorted(
            (s._replace(module=part.name) for part in parts for s in part.statics),
            key=lambda static: (static.name, static.module),
        ),
        list(inputs.values()),
        parts[0].toolchain,
        mutable_statics=sorted(n for part in parts for n in part.mutable_statics),
    )


def _twice(parts: Sequence[Manifest]) -> list[Diagnostic]:
    homes: dict[str, list[str]] = defaultdict(list)
    for part in parts:
        for kernel in part.kernels:
            homes[kernel.name].append(part.name)
    return [
        Diagnostic(
            errors.DUPLICATE_KERNEL,
            kernel,
            f"is exported by the partitions {symbols.listed(sorted(found))}",
            "name its crate in one partition only",
        )
        for kernel, found in homes.items()
        if len(found) > 1
    ]


def _split(parts: Sequence[Manifest]) -> list[Diagnostic]:
    homes: dict[str, list[str]] = defaultdict(list)
    written = {name for part in parts for name in part.mutable_statics}
    written |= {static.name for part in parts for static in part.statics if static.mutable}
    for part in parts:
        for name in sorted({*part.mutable_statics, *(s.name for s in part.statics)}):
            homes[name].append(part.name)
    return [
        Diagnostic(
            errors.SPLIT_STATIC,
            symbols.demangle(name),
            f"can be {'written' if name in written else 'set by the host'}, but is in the"
            f" partitions {symbols.listed(sorted(found))}",
            "put the crates that use it into one partition",
        )
        for name, found in homes.items()
        if len(found) > 1
    ]


def _lost(parts: Sequence[Manifest]) -> list[Diagnostic]:
    """Kernels of linked crates that no partition exports."""
    exported = {kernel.name for part in parts for kernel in part.kernels}
    lost = {each for part in parts for each in part.kernels_elsewhere}
    return [
        Diagnostic(
            errors.LOST_KERNEL,
            each.partition("/")[2],
            f"of crate {each.partition('/')[0]} is in no partition",
            f"name {each.partition('/')[0]} or {each} in one, or leave it out of `exports`",
        )
        for each in sorted(lost)
        if each.partition("/")[2] not in exported
    ]


def _named(parts: Sequence[Manifest], named: Named) -> list[Diagnostic]:
    """Exports and budgets that name no kernel of any partition."""
    kernels = [kernel.name for part in parts for kernel in part.kernels]
    faults = check_budgeted(named.budgeted, kernels, named.places)
    for name in named.exports:
        if name not in kernels:
            near = symbols.nearest(name, kernels)
            remedy = f"did you mean {symbols.listed(near, 'or')}?" if near else ""
            message = "is exported, but is a kernel of no partition"
            where = named.places.get(name)
            faults.append(Diagnostic(errors.UNKNOWN_EXPORT, name, message, remedy, where))
    return faults


def main(argv: list[str]) -> int:
    """Runs ``fatcrate merge-manifests``."""
    args = parser().parse_args(argv)
    named = Named(args.export, args.budgeted, parse_places(args.place))
    parts = [manifests.load(path) for path in args.parts]
    combined = combine(args.name, parts, args.one_module, named)
    atomic.write_text(args.output, combined.to_json())
    return 0

"""``fatcrate merge-manifests``: one manifest of a target whose kernels are in several modules.

Each partition is linked by itself (``fatcrate link --kernels-of …``) and packed into its own
fat binary, since a container with two cubins of one SM loads only one of them. The combined
manifest tells which module holds which kernel. What must not be split is checked here.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections import defaultdict
from collections.abc import Sequence

from fatcrate.lto import errors, symbols
from fatcrate.toolchain import atomic
from fatcrate.toolchain import manifest as manifests
from fatcrate.toolchain.diagnostics import Collector, Diagnostic
from fatcrate.toolchain.manifest import Input, Manifest

_EPILOG = """\
examples:
  fatcrate merge-manifests --name demo --output demo.manifest.json \\
      image.manifest.json audio.manifest.json
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate merge-manifests``."""
    p = argparse.ArgumentParser(
        prog="fatcrate merge-manifests",
        description="Combines the manifests of a target's partitions.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    p.add_argument("parts", nargs="+", metavar="MANIFEST", help="manifests of partitions")
    p.add_argument("--name", required=True, help="the target's name")
    p.add_argument("--output", required=True, metavar="JSON", help="the combined manifest")
    return p


def combine(name: str, parts: Sequence[Manifest]) -> Manifest:
    """One manifest of all partitions. Raises FC0312 and FC0328, all together."""
    faults = Collector()
    for fault in (*_twice(parts), *_split(parts)):
        faults.add(fault)
    faults.check()
    inputs: dict[tuple[str, str, str], Input] = {}
    for part in parts:
        for each in part.inputs:
            inputs[each.kind, each.name, each.sha256] = each
    return Manifest(
        name,
        parts[0].target,
        sorted(
            (dataclasses.replace(k, module=part.name) for part in parts for k in part.kernels),
            key=lambda kernel: kernel.name,
        ),
        sorted(
            (dataclasses.replace(s, module=part.name) for part in parts for s in part.statics),
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
    for part in parts:
        changed = {s.name for s in part.statics if s.mutable}
        for static in sorted({*part.mutable_statics, *changed}):
            homes[static].append(part.name)
    return [
        Diagnostic(
            errors.SPLIT_STATIC,
            symbols.demangle(static),
            f"can be written, but is in the partitions {symbols.listed(sorted(found))}",
            "put the crates that use it into one partition",
        )
        for static, found in homes.items()
        if len(found) > 1
    ]


def main(argv: list[str]) -> int:
    """Runs ``fatcrate merge-manifests``."""
    args = parser().parse_args(argv)
    combined = combine(args.name, [manifests.load(path) for path in args.parts])
    atomic.write_text(args.output, combined.to_json())
    return 0

"""PARTITION: ``fatcrate partition``. Which crates' kernels go into which of a target's modules.

For targets with ``partitions: auto``. The kernels of a crate stay together, and so do crates
whose code may use the same static that can be written or that the host sees: a static that any
crate of their closures defines. What is left is spread so that the modules' bitcode is of
nearly equal size; sizes are rounded up to powers of two, so that an ordinary edit moves
nothing. A partition may stay empty. LINK reads the plan (``--plan``).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fatcrate.lto import errors, inputs, merge, resolve
from fatcrate.lto.inputs import Unit
from fatcrate.lto.selection import Planned, plan_json
from fatcrate.toolchain import atomic, names
from fatcrate.toolchain.diagnostics import Collector, FatcrateError, fail
from fatcrate.toolchain.usage import command_parser

_EPILOG = """\
A unit is a crate that the target names, with the positions (from 0) of its transitive closure
among the --crate options.

example:
  fatcrate partition --name demo --output demo.plan.json --crate maths=libmaths.rlib \\
      --crate image=libimage.rlib --crate audio=libaudio.rlib \\
      --unit image=0,1 --unit audio=0,2 --part 1 --part 2
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate partition``."""
    p = command_parser(
        "fatcrate partition",
        "Spreads the kernels of a target over modules of nearly equal size.",
        _EPILOG,
    )
    p.add_argument("--name", required=True, help="the target's name")
    p.add_argument("--output", required=True, metavar="JSON", help="the plan")
    for option, metavar, text in (
        ("--crate", "NAME=PATH", "a crate of the target, as `fatcrate link` takes it"),
        ("--unit", "CRATE=I,J,…", "a crate whose kernels are placed, and its closure"),
        ("--part", "NAME", "the name of a partition"),
    ):
        p.add_argument(option, action="append", required=True, metavar=metavar, help=text)
    return p


class Group(NamedTuple):
    """Crates whose kernels share a module. ``crates`` are indices."""

    kernels_of: list[str]
    crates: set[int]


def weight(size: int) -> int:
    """Bytes rounded up to a power of two."""
    return 1 << max(size - 1, 0).bit_length()


def group(units: Sequence[tuple[str, Sequence[int]]], crates: Sequence[Unit]) -> list[Group]:
    """Units joined where they may use the same static; units without kernels left out.

    Kernels of a crate that several units depend on go with the first of them.
    """
    placed: set[str] = set()
    groups: list[Group] = []
    pinned = [_has_variable(crate) for crate in crates]
    kernels = [_has_kernel(crate) for crate in crates]
    for _, closure in units:
        mine = [crates[i].name for i in closure if kernels[i] and crates[i].name not in placed]
        placed.update(mine)
        if not mine:
            continue
        made = Group(mine, set(closure))
        shared = {index for index in closure if pinned[index]}
        for other in [each for each in groups if each.crates & shared]:
            groups.remove(other)
            made = Group([*other.kernels_of, *made.kernels_of], other.crates | made.crates)
        groups.append(made)
    return groups


def _has_variable(crate: Unit) -> bool:
    """Whether a crate has a static that device code may write or that the host sees."""
    return any(
        merge.is_host_visible(symbol)
        or (
            symbol.kind == "variable"
            and symbol.defined
            and not symbol.constant
            and symbol.address_space in (0, 1)
            and symbol.section != names.META_SECTION
            and not symbol.is_intrinsic
        )
        for member in crate.members
        for symbol in member.info.symbols
    )


def _has_kernel(crate: Unit) -> bool:
    return any(resolve.is_kernel(s) for member in crate.members for s in member.info.symbols)


def spread(
    groups: Iterable[Group], crates: Sequence[Unit], parts: Sequence[str]
) -> dict[str, Planned]:
    """Groups over partitions: the largest first, each into the one that is smallest so far."""
    sizes = [sum(len(member.data) for member in crate.members) for crate in crates]
    weighed = [(weight(sum(sizes[i] for i in each.crates)), each) for each in groups]
    filled = [0] * len(parts)
    chosen: list[list[Group]] = [[] for _ in parts]
    for amount, each in sorted(weighed, key=lambda pair: -pair[0]):
        smallest = filled.index(min(filled))
        filled[smallest] += amount
        chosen[smallest].append(each)
    return {
        name: Planned(
            sorted({crate for each in found for crate in each.kernels_of}),
            sorted({index for each in found for index in each.crates}),
        )
        for name, found in zip(parts, chosen, strict=True)
    }


def _units(texts: Sequence[str], count: int) -> list[tuple[str, list[int]]]:
    found = []
    for text in texts:
        name, _, listed = text.partition("=")
        numbers = listed.split(",")
        if not name or not all(n.isdecimal() and int(n) < count for n in numbers):
            fail(errors.BAD_OPTION, "--unit", f"{text!r} is not CRATE=I,J,… below {count}")
        found.append((name, [int(n) for n in numbers]))
    return found


def main(argv: list[str]) -> int:
    """Runs ``fatcrate partition``."""
    args = parser().parse_args(argv)
    units = _units(args.unit, len(args.crate))
    crates: list[Unit] = []
    faults = Collector()
    for text in args.crate:
        name, _, path = text.partition("=")
        try:
            if not name or not path:
                fail(errors.BAD_OPTION, "--crate", f"{text!r} is not NAME=PATH")
            crates.append(inputs.load(name, "crate", path))
        except FatcrateError as error:
            faults.absorb(error)
    faults.check()
    groups = group(units, crates)
    if not groups:
        fail(
            errors.NO_KERNELS,
            args.name,
            "no linked crate defines a kernel",
            remedy='declare one as `#[unsafe(no_mangle)] pub unsafe extern "gpu-kernel" fn …`',
        )
    atomic.write_text(args.output, plan_json(spread(groups, crates, args.part)))
    return 0

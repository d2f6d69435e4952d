"""Which kernels a link exports: all, those that are named, or those of one partition.

A partition is named by ``--kernels-of CRATE`` or ``--kernels-of CRATE/KERNEL`` and, where
another partition takes single kernels out of such a crate, ``--leave KERNEL``; or by the plan
that ``fatcrate partition`` wrote. A partition of a plan may be empty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from fatcrate.lto import errors, resolve, symbols
from fatcrate.lto.inputs import Unit
from fatcrate.lto.resolve import Table
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, Location, fail

PLAN_VERSION = 1


class Selection(NamedTuple):
    """What a link is asked to export."""

    exports: Sequence[str] = ()  # empty: all
    kernels_of: Sequence[str] | None = None  # None: not a partition
    leave: Sequence[str] = ()
    places: Mapping[str, Location] = MappingProxyType({})
    planned: bool = False

    @property
    def whole_crates(self) -> frozenset[str] | None:
        """The crates that are in the partition whole; None when this is none."""
        if self.kernels_of is None:
            return None
        return frozenset(each for each in self.kernels_of if "/" not in each)

    def exported(self, table: Table) -> list[str]:
        """Names to export, in link order."""
        if self.kernels_of is None:
            return list(self.exports or table.kernels)
        return [
            name
            for name, crate in table.kernels.items()
            if (not self.exports or name in self.exports)
            and name not in self.leave
            and (crate in self.kernels_of or f"{crate}/{name}" in self.kernels_of)
        ]

    def elsewhere(self, table: Table) -> list[str]:
        """Kernels that another partition must export, as ``crate/kernel``."""
        if self.kernels_of is None:
            return []
        mine = set(self.exported(table))
        return sorted(
            f"{crate}/{name}"
            for name, crate in table.kernels.items()
            if name not in mine and (not self.exports or name in self.exports)
        )

    def check(
        self,
        units: Sequence[Unit],
        table: Table,
        target: str,
        keep: Sequence[str] = (),
        budgeted: Sequence[str] = (),
    ) -> None:
        """All checks of a link that need no LLVM; raises every fault together."""
        exported = self.exported(table)
        whole = self.kernels_of is None
        faults = Collector()
        for fault in (
            *resolve.check_supported(units),
            *resolve.check_duplicates(table),
            *(resolve.check_exports(table, self.exports, self.places) if whole else ()),
            *resolve.check_kept(table, keep, self.places),
            *(() if self.planned else resolve.check_kernels(table, exported, target)),
            *self._check_crates([unit.name for unit in units], table),
            *check_budgeted(budgeted, exported, self.places),
        ):
            faults.add(fault)
        if not (whole or exported or self.planned or faults.errors):
            message = "is a partition without kernels: others hold them, or they are not exported"
            faults.add(Diagnostic(errors.NO_KERNELS, target, message, "leave the partition out"))
        faults.check()

    def _check_crates(self, linked: Iterable[str], table: Table) -> list[Diagnostic]:
        """A fault for each part of ``--kernels-of`` that names nothing."""
        faults = []
        crates, with_kernels = set(linked), set(table.kernels.values())
        for each in self.kernels_of or ():
            crate, _, kernel = each.partition("/")
            where = self.places.get(each)
            if crate not in crates:
                message = "is given with --kernels-of, but is not linked"
                faults.append(_unknown(crate, message, sorted(crates), where))
            elif crate not in with_kernels:
                message = "is given with --kernels-of, but defines no kernel"
                faults.append(Diagnostic(errors.NO_KERNELS, crate, message, location=where))
            elif kernel and table.kernels.get(kernel) != crate:
                known = sorted(name for name, home in table.kernels.items() if home == crate)
                message = f"is not a kernel of crate {crate}"
                faults.append(_unknown(kernel, message, known, where))
        return faults


def _unknown(name: str, message: str, known: list[str], where: Location | None) -> Diagnostic:
    near = symbols.nearest(name, known)
    remedy = f"did you mean {symbols.listed(near, 'or')}?" if near else ""
    return Diagnostic(errors.UNKNOWN_EXPORT, name, message, remedy, where)


def check_budgeted(
    budgeted: Iterable[str], kernels: Sequence[str], places: Mapping[str, Location]
) -> list[Diagnostic]:
    """A fault for each kernel that a budget names and the target does not have."""
    faults = []
    for name in budgeted:
        if name not in kernels:
            near = symbols.nearest(name, kernels)
            hint = f"did you mean {symbols.listed(near, 'or')}? " if near else ""
            faults.append(
                Diagnostic(
                    errors.UNKNOWN_BUDGET,
                    name,
                    "has a budget, but is not a kernel of the target",
                    f"{hint}kernels: {', '.join(sorted(kernels))}",
                    places.get(name),
                )
            )
    return faults


_PLACE = re.compile(r"(?P<file>.+?):(?P<line>[0-9]{1,9}):(?P<column>[0-9]{1,9})")


def parse_places(texts: Iterable[str]) -> dict[str, Location]:
    """Reads ``NAME=FILE:LINE:COLUMN`` or ``NAME=LABEL``. Raises FC0340."""
    found = {}
    for text in texts:
        name, equals, place = text.partition("=")
        if not name or not equals or not place:
            fail(errors.BAD_OPTION, "--place", f"{text!r} is not NAME=PLACE")
        match = _PLACE.fullmatch(place)
        found[name] = (
            Location(match["file"], int(match["line"]), int(match["column"]))
            if match
            else Location(place)
        )
    return found


class Planned(NamedTuple):
    """One partition of a plan. ``crates`` are indices into the target's list of crates."""

    kernels_of: list[str]
    crates: list[int]


def plan_json(parts: Mapping[str, Planned]) -> str:
    """A plan as ``fatcrate partition`` writes it."""
    value = {
        "version": PLAN_VERSION,
        "parts": {
            name: {"kernels_of": part.kernels_of, "crates": part.crates}
            for name, part in parts.items()
        },
    }
    return json.dumps(value, indent=2, sort_keys=True) + "\n"


def read_plan(path: str, name: str) -> Planned:
    """The partition ``name`` of a plan. Raises FC0340 for a file that is none."""
    with open(path, "rb") as stream:
        data = stream.read()
    try:
        value = json.loads(data)
        part = value["parts"][name]
        made = Planned([str(c) for c in part["kernels_of"]], [int(i) for i in part["crates"]])
    except (ValueError, KeyError, TypeError, RecursionError):
        made = None
    if made is None or value.get("version") != PLAN_VERSION:
        fail(
            errors.BAD_OPTION,
            "--plan",
            f"{path} is not a plan with a partition {name!r}",
            remedy="make it with `fatcrate partition`",
        )
    return made

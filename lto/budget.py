"""Resources of kernels, and the limits that a project sets for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from fatcrate.lto import errors
from fatcrate.lto.occupancy import Occupancy, occupancy
from fatcrate.toolchain.arch import Arch
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, FatcrateError, fail

#: Threads per block for which reports tell the occupancy.
BLOCKS = (32, 64, 128, 256, 512, 1024)


class Resources(NamedTuple):
    """What one kernel takes, as ptxas reports it; bytes but for registers and barriers."""

    name: str
    registers: int = 0
    barriers: int = 0
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    shared: int = 0
    local: int = 0
    constant: int = 0
    stack_known: bool = True  # else ``stack`` is the least
    called_spills: int = 0  # of functions that the kernel calls

    def occupancy(self, arch: Arch, block: int) -> Occupancy | None:
        """Occupancy without dynamic shared memory; None for an SM that is not in the table."""
        return occupancy(arch, block, self.registers, self.shared, 0, self.barriers)

    @property
    def spills(self) -> int:
        """Bytes of spill stores and loads, those of called functions included."""
        return self.spill_stores + self.spill_loads + self.called_spills


NAMES = ("max_registers", "max_spill_bytes", "max_shared", "max_stack", "min_occupancy")
_AMOUNTS = {
    "max_registers": ("registers", "registers"),
    "max_spill_bytes": ("spills", "bytes of spills"),
    "max_shared": ("shared", "bytes of shared memory"),
    "max_stack": ("stack", "bytes of stack"),
}


class Budget(NamedTuple):
    """One limit. ``kernel`` is empty for all kernels; ``block`` is for ``min_occupancy``."""

    kernel: str
    name: str
    value: float
    block: int = 0


def parse(texts: Iterable[str]) -> list[Budget]:
    """Reads ``[KERNEL:]NAME=VALUE[@BLOCK]``; raises FC0340 for all faulty ones together."""
    made, faults = [], Collector()
    for text in texts:
        try:
            made.append(_parse(text))
        except FatcrateError as error:
            faults.absorb(error)
    faults.check()
    return made


def _parse(text: str) -> Budget:
    left, _, right = text.partition("=")
    kernel, _, name = left.rpartition(":")
    value, at, block = right.partition("@")
    if name not in NAMES:
        fail(
            errors.BAD_OPTION,
            "--budget",
            f"{text!r} names no budget",
            remedy=f"choose from: {', '.join(NAMES)}",
        )
    try:
        if name == "min_occupancy":
            budget = Budget(kernel, name, float(value), int(block) if at else 0)
            good = 0 <= budget.value <= 1 and 1 <= budget.block <= 1024
        else:
            budget = Budget(kernel, name, int(value))
            good = budget.value >= 0 and not at
    except ValueError:
        good = False
    if not good:
        form = "0.5@256" if name == "min_occupancy" else "a number that is not negative"
        fail(errors.BAD_OPTION, "--budget", f"{text!r} has no valid value", remedy=f"write {form}")
    return budget


def check(
    kernels: list[Resources], budgets: list[Budget], arch: Arch, partial: bool = False
) -> list[Diagnostic]:
    """A fault for each kernel and budget that do not fit; warnings for spills.

    ``partial``: the image holds a part of the target's kernels; budgets may name others.
    """
    faults = []
    known = {kernel.name for kernel in kernels}
    for budget in budgets:
        if budget.kernel and budget.kernel not in known and not partial:
            faults.append(
                Diagnostic(
                    errors.BAD_OPTION,
                    "--budget",
                    f"{budget.kernel!r} is not a kernel of this image",
                    f"choose from: {', '.join(sorted(known))}",
                )
            )
    for kernel in kernels:
        mine = [b for b in budgets if b.kernel in ("", kernel.name)]
        own = {b.name for b in mine if b.kernel}
        for budget in mine:
            if budget.kernel or budget.name not in own:
                faults += _exceeded(kernel, budget, arch)
        spills = kernel.spill_stores + kernel.spill_loads
        if spills and not any(b.name == "max_spill_bytes" for b in mine):
            faults.append(_spill_warning(kernel, arch))
    return faults


def _exceeded(kernel: Resources, budget: Budget, arch: Arch) -> list[Diagnostic]:
    if budget.name == "min_occupancy":
        found = kernel.occupancy(arch, budget.block)
        if found is None or found.fraction >= budget.value:
            return []
        message = (
            f"reaches an occupancy of {found.fraction:.2f} on {arch} in blocks of"
            f" {budget.block}, the budget asks for {budget.value:g}"
        )
        remedy = f"what bounds it: {', '.join(found.limits)}"
    else:
        field, unit = _AMOUNTS[budget.name]
        amount = getattr(kernel, field)
        if field == "stack" and not kernel.stack_known:
            return [_unbounded(kernel, budget, arch)]
        if amount <= budget.value:
            return []
        message = f"takes {amount} {unit} on {arch}, the budget allows {budget.value:g}"
        if field == "spills" and kernel.called_spills:
            message += f"; {kernel.called_spills} of them in functions that it calls"
        remedy = f"raise {budget.name}, or make the kernel smaller"
    return [Diagnostic(errors.BUDGET, kernel.name, message, remedy)]


def _unbounded(kernel: Resources, budget: Budget, arch: Arch) -> Diagnostic:
    return Diagnostic(
        errors.BUDGET,
        kernel.name,
        f"takes a stack on {arch} of {kernel.stack} bytes or more: ptxas finds no bound,"
        f" and the budget allows {budget.value:g}",
        f"avoid recursion and calls through pointers and `dyn`, or give no {budget.name}",
    )


def _spill_warning(kernel: Resources, arch: Arch) -> Diagnostic:
    return Diagnostic(
        errors.SPILLS,
        kernel.name,
        f"spills registers on {arch}: {kernel.spill_stores} bytes of stores,"
        f" {kernel.spill_loads} bytes of loads",
        "allow more registers, use smaller blocks, or split the kernel",
    )


def relocation_costs(
    kernels: Iterable[Resources], whole: Iterable[Resources], arch: Arch
) -> list[Diagnostic]:
    """A warning for each kernel that takes more than it does as part of a whole program."""
    alone = {kernel.name: kernel for kernel in whole}
    faults = []
    for kernel in kernels:
        base = alone.get(kernel.name)
        if base and (kernel.registers > base.registers or kernel.stack > base.stack):
            message = (
                f"takes {kernel.registers} registers and {kernel.stack} bytes of stack on {arch};"
                f" assembled as a whole program {base.registers} and {base.stack}"
            )
            remedy = "leave `relocatable` off, or put its crates into one partition"
            faults.append(Diagnostic(errors.RELOCATABLE_COST, kernel.name, message, remedy))
    return faults


def report(
    kernels: Iterable[Resources], arch: Arch, whole: Iterable[Resources] = ()
) -> list[dict[str, object]]:
    """The kernels as the resource report tells them."""
    made = []
    alone = {kernel.name: kernel for kernel in whole}
    for kernel in kernels:
        value: dict[str, object] = kernel._asdict()
        shares = {str(block): kernel.occupancy(arch, block) for block in BLOCKS}
        value["occupancy"] = {
            block: round(found.fraction, 4) for block, found in shares.items() if found
        }
        if base := alone.get(kernel.name):
            value["whole"] = {"registers": base.registers, "stack": base.stack}
        made.append(value)
    return made

"""Which checks count: ``--allow NAME`` silences one, ``--deny NAME`` makes a warning an error."""

from __future__ import annotations

from collections.abc import Iterable

from fatcrate.fatbin import errors
from fatcrate.fatbin.checks import NAMES, Check
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, fail


class Policy:
    """Which checks are silenced or sharpened; raises FC0409 for a name that does not exist."""

    def __init__(self, allow: Iterable[str] = (), deny: Iterable[str] = ()) -> None:
        self.allowed = self._names(allow, "--allow")
        self.denied = self._names(deny, "--deny")

    @staticmethod
    def _names(names: Iterable[str], flag: str) -> frozenset[str]:
        made: set[str] = set()
        for name in names:
            if name == "all":
                made.update(NAMES)
            elif name in NAMES:
                made.add(name)
            else:
                fail(
                    errors.USAGE,
                    name,
                    f"is no check that {flag} could name",
                    remedy=f"choose one of: all, {', '.join(NAMES)}",
                )
        return frozenset(made)

    def report(
        self, into: Collector, check: Check, subject: str, message: str, remedy: str = ""
    ) -> None:
        """Adds one finding, unless the check is allowed. ``deny`` outranks ``allow``.

        ``remedy`` replaces the check's own where that would not help.
        """
        denied = check.name in self.denied
        if check.name in self.allowed and not denied:
            return
        remedy = remedy or check.remedy
        if check.kind.severity == "warning" and not denied:
            remedy += (
                f"; or allow it: `allow: [{check.name}]` of the target in fatcrate.yaml,"
                f' `allow = ["{check.name}"]` in a BUILD file, `--allow {check.name}` of pack'
            )
        into.add(
            Diagnostic(
                check.kind,
                subject,
                f"{message} [{check.name}]",
                remedy,
                severity_override="error" if denied else None,
            )
        )

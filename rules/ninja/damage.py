"""Outputs that something else than a build changed: they are made again.

Ninja takes an output for good when it is newer than its inputs. So after each run the size and
time of every output are kept in ``outputs.json``, and before the next one they are compared;
what differs is removed. Plain Ninja changes outputs too: when its log is not the one of our
last run, nothing is compared.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from fatcrate.rules import errors
from fatcrate.rules.ninja.places import Places
from fatcrate.toolchain import atomic
from fatcrate.toolchain.diagnostics import fail
from fatcrate.toolchain.locate import State, state_of

#: In the front end's own folder, as Ninja's log is.
RECORD = "outputs.json"
_LOG = ".ninja_log"


def _present(places: Places, nodes: Iterable[str]) -> dict[str, State]:
    """The states of outputs that are there; those outside the output folder are shared."""
    inside = (node for node in nodes if not os.path.isabs(node) and not node.startswith(".."))
    states = {node: state_of(os.path.join(places.folder, node)) for node in inside}
    return {node: state for node, state in states.items() if state is not None}


def _read(places: Places) -> dict[str, Any]:
    try:
        with open(places.absolute(places.own(RECORD)), encoding="utf-8") as stream:
            found = json.load(stream)
    except (OSError, ValueError):
        return {}
    whole = isinstance(found, dict) and isinstance(found.get("outputs"), dict)
    return found if whole else {}


def _log(places: Places) -> State:
    return state_of(places.absolute(places.own(_LOG)))


def remove_changed(places: Places, nodes: Iterable[str]) -> list[str]:
    """Removes outputs that changed since :func:`record`; returns their names. Raises FC0122 for
    one that became a folder, which may hold anything."""
    known = _read(places)
    if not known or known.get("log") != _log(places):
        return []
    recorded = known["outputs"]
    changed = [
        node
        for node, state in _present(places, nodes).items()
        if node in recorded and recorded[node] != state
    ]
    for node in changed:
        path = os.path.join(places.folder, node)
        if os.path.isfile(path) or os.path.islink(path):
            os.unlink(path)
        elif os.path.isdir(path):
            fail(
                errors.BAD_OUTPUT_FOLDER,
                os.path.join(places.out, node),
                "is a folder; the build writes a file of that name",
                remedy="move it away",
            )
    return changed


def record(places: Places, nodes: Iterable[str]) -> None:
    """Notes the present state of outputs. Without room for that the next build trusts them."""
    told = {"log": _log(places), "outputs": _present(places, nodes)}
    if told == _read(places):
        return
    with suppress(OSError):
        atomic.write_text(places.absolute(places.own(RECORD)), json.dumps(told))

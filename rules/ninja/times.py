"""Sources whose times tell Ninja the wrong thing.

Ninja takes an output for good when it is newer than its inputs. A source that gets an older
time than the output (a backup put back, `cp -p`, a clock that was set back) would stay
unnoticed, so after each run the states of the sources that Ninja learnt from dependency files
are kept in ``sources.json``; before the next run, outputs of those that changed without getting
newer are removed. A source from the future is built each time; that is said.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from contextlib import suppress
from typing import Any

from fatcrate.rules.ninja.places import Places
from fatcrate.toolchain import atomic
from fatcrate.toolchain.locate import state_of

RECORD = "sources.json"
_LOG = ".ninja_log"
_TIME = 1  # index in a state: nanoseconds
_SLACK = 2 * 10**9  # nanoseconds; file systems have coarse clocks


def _path(places: Places, node: str) -> str:
    return os.path.normpath(os.path.join(places.folder, node))


def _read(places: Places) -> dict[str, Any]:
    try:
        with open(places.absolute(places.own(RECORD)), encoding="utf-8") as stream:
            found = json.load(stream)
    except (OSError, ValueError):
        return {}
    whole = isinstance(found, dict) and isinstance(found.get("sources"), dict)
    return found if whole else {}


def _known(places: Places) -> dict[str, Any]:
    """The record; nothing when plain Ninja ran since, which its log tells."""
    known = _read(places)
    return known if known.get("log") == state_of(places.absolute(places.own(_LOG))) else {}


def is_current(places: Places) -> bool:
    """Whether the record is that of Ninja's last run."""
    return bool(_known(places))


def remove_outdated(places: Places) -> list[str]:
    """Removes outputs of sources that changed but did not get newer; returns the sources."""
    known = _known(places)
    if not known:
        return []
    changed = []
    for source, (was, outputs) in known["sources"].items():
        now = state_of(_path(places, source))
        if now is None or now == was:
            continue
        for output in outputs:
            made = state_of(_path(places, output))
            if made is not None and made[_TIME] >= now[_TIME]:
                os.unlink(_path(places, output))
                changed.append(source)
    return [_shown(places, source) for source in dict.fromkeys(changed)]


def _shown(places: Places, node: str) -> str:
    return os.path.relpath(_path(places, node), places.root)


def record(places: Places, ninja: str) -> list[str]:
    """Notes the present states of all sources; returns those with a time in the future."""
    argv = [ninja, "-t", "deps"]
    done = subprocess.run(argv, cwd=places.folder, capture_output=True, text=True, check=False)
    sources: dict[str, tuple[Any, list[str]]] = {}
    future = []
    limit = time.time_ns() + _SLACK
    output = ""
    for line in done.stdout.splitlines():
        if not line.startswith("    "):
            output = line.split(": #deps ")[0] if line.endswith("(VALID)") else ""
            continue
        source = line[4:]
        if output and source not in sources:
            state = state_of(_path(places, source))
            sources[source] = (state, [])
            if state is not None and state[_TIME] > limit:
                future.append(_shown(places, source))
        if output:
            sources[source][1].append(output)
    told = {"log": state_of(places.absolute(places.own(_LOG))), "sources": sources}
    with suppress(OSError):  # without room for it the next build goes by times alone
        atomic.write_text(places.absolute(places.own(RECORD)), json.dumps(told))
    return future

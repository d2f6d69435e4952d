"""Makes ``build.ninja`` and the files that go with it, when anything that they come from changed.

``state.json`` in the front end's own folder remembers what the present ``build.ninja`` was
made from, and the state of it, so that a build with nothing new reads neither the project file
nor the recipe, and a file that something else changed is written again.
"""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fatcrate.rules.ninja.places import Places
from fatcrate.toolchain import atomic
from fatcrate.toolchain.discover import Tools
from fatcrate.toolchain.locate import interpreter, state_of

if TYPE_CHECKING:
    from fatcrate.rules.ninja.generate import Planned
    from fatcrate.rules.ninja.graph import Temps

_STATE_FORMAT = 4

#: A file of the front end's own folder; see :func:`_checks`.
CHECKS = "checks.json"

#: Written beside ``build.ninja`` so that version control leaves the outputs alone.
_IGNORE = "# Made by fatcrate.\n*\n"


@dataclass(frozen=True)
class Options:
    """What the command line says about the content of ``build.ninja``."""

    archs: tuple[str, ...] = ()  # overrides those of every target
    allow_untested_llvm: bool = False
    temps: Temps = ""


@dataclass(frozen=True)
class Plan:
    """The present build: outputs by name, as Ninja sees them."""

    names: dict[str, list[str]]
    targets: list[str]  # those of the names that are entries of `kernels:`
    outputs: list[str]


def make(places: Places, file: str, tools: Tools, options: Options) -> Plan:
    """The plan of project file ``file`` (relative to the root), up to date.

    Raises FC0110 to FC0121 for faults in the project file, FC0210 and FC0211 for archs.
    """
    key = _key(places, file, tools, options)
    old = _read_state(places)
    if _is_current(old, key, places, file):
        return Plan(old["names"], old["targets"], old["outputs"])
    return _make(places, file, tools, options, key, old)


def _key(places: Places, file: str, tools: Tools, options: Options) -> str:
    """Changes with everything that `build.ninja` comes from, the project file aside."""
    told = [
        _STATE_FORMAT,
        file,
        dataclasses.astuple(options),
        places.root,
        tools.identity.to_json(),
        {
            name: getattr(tools, name)
            for name in (
                "rustc",
                "rust_src",
                "prebuilt",
                "ptxas",
                "libdevice",
                "host_linker",
                "nvdisasm",
            )
        },
        cache_folder(places),
        step_prefix(),
        HERE,
    ]
    return json.dumps(told)


_CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "client.py")

#: The folder that fatcrate lies in.
HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def step_prefix() -> list[str]:
    """argv that starts a step: this interpreter, isolated from the user's environment."""
    return [interpreter(), "-I", "-S", _CLIENT, "fatcrate"]


def cache_folder(places: Places) -> str:
    """Where sysroots are kept: the user's cache, or without a home the output folder."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        home = os.environ.get("HOME", "")
        if not os.path.isabs(home):
            return places.own("sysroot")
        base = f"{home}/.cache"
    return f"{base}/fatcrate/sysroot"


def _read_state(places: Places) -> dict[str, Any]:
    try:
        with open(places.absolute(places.own("state.json")), encoding="utf-8") as stream:
            state = json.load(stream)
        return state if isinstance(state, dict) else {}
    except (OSError, ValueError):
        return {}


def recorded(places: Places) -> tuple[list[str], list[str]]:
    """What the present `build.ninja` makes, as Ninja sees it, and the files beside it."""
    state = _read_state(places)
    return state.get("outputs", []), list(state.get("made", ()))


def last_told(places: Places) -> tuple[tuple[str, ...], Temps]:
    """Archs and stages to keep as the command line gave them for the present `build.ninja`."""
    archs, temps = _read_state(places).get("told", ((), ""))
    return tuple(archs), temps


def _is_current(state: dict[str, Any], key: str, places: Places, file: str) -> bool:
    return (
        state.get("key") == key
        and state.get("file") == state_of(places.absolute(file))
        and all(
            os.path.exists(places.absolute(path)) == there
            for path, there in state["probes"].items()
        )
        and all(state_of(places.absolute(path)) == was for path, was in state["made"].items())
    )


def _make(
    places: Places,
    file: str,
    tools: Tools,
    options: Options,
    key: str,
    old: dict[str, Any],
) -> Plan:
    """Reads the project and writes everything; removes outputs that are no longer made."""
    from fatcrate.rules.ninja import generate, sweep, writer

    before = state_of(places.absolute(file))
    probes: dict[str, bool] = {}
    planned = generate.graph(places, file, tools, options, step_prefix(), probes)
    os.makedirs(places.absolute(places.own("")), exist_ok=True)
    made = dict(planned.files)
    again = writer.Regeneration(file, tuple(_regenerate(places, options)), _sources(file, tools))
    made[f"{places.out}/build.ninja"] = writer.text(
        planned.graph, places, again, len(step_prefix()) + 1
    )
    made[f"{places.out}/.gitignore"] = _IGNORE
    made[places.own(CHECKS)] = _checks(places, planned)
    for path, text in made.items():
        atomic.write_if_changed(places.absolute(path), text.encode())
    # Newer than the project file, or Ninja would make it again.
    os.utime(places.absolute(f"{places.out}/build.ninja"))
    outputs = [places.node(path) for path in planned.graph.outputs()]
    sweep.remove_stale(places, set(old.get("outputs", [])) - set(outputs))
    names = {
        name: [places.node(path) for path in paths] for name, paths in planned.graph.names.items()
    }
    targets = list(planned.target_crates)
    state = {
        "key": key,
        "file": before,
        "probes": probes,
        "made": {path: state_of(places.absolute(path)) for path in made},
        "told": [options.archs, options.temps],
        "names": names,
        "targets": targets,
        "outputs": outputs,
    }
    atomic.write_text(places.absolute(places.own("state.json")), json.dumps(state))
    return Plan(names, targets, outputs)


def _checks(places: Places, planned: Planned) -> str:
    """What `fatcrate check` needs to know: crates by key, and the crates of each target."""
    crates = {
        key: {
            "metadata": places.node(check.metadata),
            "diagnostics": check.diagnostics,
            "needs": check.needs,
        }
        for key, check in planned.graph.checks.items()
    }
    return json.dumps({"crates": crates, "targets": planned.target_crates})


def _regenerate(places: Places, options: Options) -> list[str]:
    argv = [*step_prefix(), "build", "--generate", "-C", ".", "--out", places.out]
    argv += ["--archs", ",".join(options.archs)] if options.archs else []
    argv += ["--temps", options.temps] if options.temps else []
    return argv + (["--allow-untested-llvm"] if options.allow_untested_llvm else [])


def _sources(file: str, tools: Tools) -> tuple[str, ...]:
    """Files whose change makes plain Ninja look again."""
    found = [tools.rustc, tools.ptxas, tools.libdevice, tools.host_linker]
    sources = ("private/recipe.bzl", "private/recipe_kernels.bzl", "ninja/writer.py")
    own = [f"{HERE}/rules/{name}" for name in sources]
    return (file, *(path for path in found if path), *own)

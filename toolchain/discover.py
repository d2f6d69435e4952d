"""Finds the toolchain: paths of the tools for the front ends, and their identity.

:func:`discover` is what front ends call. It answers from a cache in the user's cache folder
while every file that discovery looked at is unchanged (a few dozen `stat` calls); otherwise
it locates (``locate.py``), probes (``probe.py``) and checks (``compat.py``) anew.
:func:`survey` does the latter and keeps going after a fault, for ``fatcrate doctor``.
"""

from __future__ import annotations

import dataclasses
import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from fatcrate.toolchain import atomic
from fatcrate.toolchain.diagnostics import Diagnostic, FatcrateError
from fatcrate.toolchain.identity import Identity
from fatcrate.toolchain.identity import loads as load_identity
from fatcrate.toolchain.locate import Request, Watch, state_of

#: Raise this when the cache's content or the meaning of a probe changes.
_CACHE_FORMAT = 3


@dataclass(frozen=True)
class Tools:
    """The toolchain of a build: absolute paths ("" for an optional tool that is absent).

    Exactly one of ``rust_src`` (the folder that holds `core`, to build a sysroot from) and
    ``prebuilt`` (a folder with the rlibs of a prebuilt nvptx target, whose sysroot is
    ``sysroot``) is set. ``provenance`` says of each tool where it came from.
    """

    rustc: str
    sysroot: str
    rust_src: str
    prebuilt: str
    ptxas: str
    libdevice: str
    host_linker: str
    python: str
    nvdisasm: str
    cuobjdump: str
    nvlink: str  # beside ptxas
    libllvm: str  # what rustc itself loads
    cargo: str
    provenance: dict[str, str]
    identity: Identity


@dataclass
class Survey:
    """What was found: for each tool a path, a version, a provenance; and what is wrong."""

    paths: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    provenance: dict[str, str] = field(default_factory=dict)
    unusable: set[str] = field(default_factory=set)  # found, but with a fault
    faults: list[Diagnostic] = field(default_factory=list)
    identity: Identity | None = None

    def found(self, name: str, path: str, version: str, provenance: str) -> None:
        self.paths[name] = path
        self.versions[name] = version
        self.provenance[name] = provenance

    def rejected(self, name: str, path: str, provenance: str, *faults: Diagnostic) -> None:
        """Records a tool that is there but cannot be used."""
        self.found(name, path, "", provenance)
        self.unusable.add(name)
        self.faults.extend(faults)

    def state(self, name: str) -> str:
        """``ok``, ``unusable`` or ``missing``."""
        if name in self.unusable:
            return "unusable"
        return "ok" if name in self.paths else "missing"

    def tools(self) -> Tools:
        """The toolchain; raises every fault together."""
        if self.faults or self.identity is None:
            raise FatcrateError(*self.faults)
        names = [f.name for f in dataclasses.fields(Tools) if f.type == "str"]
        return Tools(
            **{name: self.paths.get(name, "") for name in names},
            provenance=self.provenance,
            identity=self.identity,
        )


def discover(
    request: Request | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    allow_untested_llvm: bool = False,
    refresh: bool = False,
) -> Tools:
    """The toolchain for a build, from the cache when nothing changed.

    ``request`` defaults to what the environment says. Raises FC0230 to FC0233, all faults
    together, each with the command that mends it. ``refresh`` ignores the cache.
    """
    environ = os.environ if environ is None else environ
    if request is None:
        request = Request.from_environment(environ, allow_untested_llvm=allow_untested_llvm)
    key = json.dumps([_CACHE_FORMAT, dataclasses.astuple(request)])
    cache = _cache_file(environ, key)
    if not refresh:
        tools = _from_cache(cache, key)
        if tools is not None:
            return tools
    from fatcrate.toolchain import sources, survey

    watch, own = Watch(), Watch()
    made = survey.survey(watch, request, sources.digest(own)).tools()
    _to_cache(cache, key, made, watch, own)
    return made


def _cache_file(environ: Mapping[str, str], key: str) -> str:
    """The cache entry's path; "" when there is no place for one."""
    base = environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # by its specification it counts for nothing then
        home = environ.get("HOME", "")
        base = f"{home}/.cache" if os.path.isabs(home) else ""
    return f"{base}/fatcrate/toolchain-{zlib.crc32(key.encode()):08x}.json" if base else ""


def _unchanged(states: dict[str, object]) -> bool:
    return all(state_of(path) == state for path, state in states.items())


def _from_cache(cache: str, key: str) -> Tools | None:
    """The cached toolchain, unless a file it depends on changed or the entry is damaged."""
    try:
        with open(cache, encoding="utf-8") as stream:
            entry = json.load(stream)
        if entry["key"] != key or not _unchanged(entry["watch"]):
            return None
        identity = load_identity(entry["identity"], cache)
        tools = Tools(**entry["tools"], identity=identity)
        if _unchanged(entry["own"]):
            return tools
    except (OSError, ValueError, KeyError, TypeError, AttributeError, FatcrateError):
        return None
    # Only fatcrate itself changed: no tool need be probed for that.
    from fatcrate.toolchain import sources

    own = Watch()
    ours = identity.fatcrate._replace(sha256=sources.digest(own))
    tools = dataclasses.replace(tools, identity=identity._replace(fatcrate=ours))
    _write(cache, key, tools, entry["watch"], own)
    return tools


def _to_cache(cache: str, key: str, tools: Tools, watch: Watch, own: Watch) -> None:
    _write(cache, key, tools, watch.states, own)


#: Entries that are kept; each value of PATH and of the variables in ``Request`` has its own.
_ENTRIES = 16


def _write(cache: str, key: str, tools: Tools, states: Mapping[str, object], own: Watch) -> None:
    """Stores the entry; a cache that cannot be written costs time, not correctness."""
    if not cache:
        return
    from fatcrate.toolchain import prune

    plain = {
        f.name: getattr(tools, f.name) for f in dataclasses.fields(tools) if f.name != "identity"
    }
    entry = {
        "key": key,
        "watch": states,
        "own": own.states,
        "tools": plain,
        "identity": tools.identity.to_json(),
    }
    try:
        os.makedirs(os.path.dirname(cache), exist_ok=True)
        atomic.write_text(cache, json.dumps(entry))
        prune.keep_newest(os.path.dirname(cache), r"toolchain-\w+\.json", _ENTRIES)
    except OSError:
        pass

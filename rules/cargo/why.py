"""Why a crate is there, and why a feature of it is on: chains of dependencies."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from fatcrate.rules.cargo.graph import Graph, Unit


@dataclass(frozen=True)
class Cause:
    """Something that turns a feature on: whose manifest, how, and what turns it off."""

    chain: tuple[str, ...]  # packages from a selected one to the one whose feature it is
    manifest: str  # the manifest to edit
    own: bool  # a manifest of the project, not one of a package from elsewhere
    remedy: str

    def note(self) -> str:
        return " -> ".join(self.chain)


def chain(graph: Graph, index: int) -> tuple[str, ...]:
    """The shortest chain of packages from a selected library to unit ``index``."""
    return tuple(str(graph.units[step].package) for step in _shortest(graph, index))


def _shortest(graph: Graph, index: int) -> list[int]:
    before: dict[int, int | None] = dict.fromkeys(graph.roots)
    queue = deque(graph.roots)
    while queue:
        at = queue.popleft()
        if at == index:
            break
        for _, dep in graph.units[at].deps:
            if dep not in before:
                before[dep] = at
                queue.append(dep)
    path: list[int] = []
    step: int | None = index if index in before else None
    while step is not None:
        path.append(step)
        step = before[step]
    return path[::-1]


def closure(features: dict[str, list[str]], names: list[str]) -> set[str]:
    """The features of a package that ``names`` turn on."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name in found or "/" in name or name.startswith("dep:"):
            continue
        found.add(name)
        todo += features.get(name, [])
    return found


def causes(graph: Graph, index: int, feature: str) -> list[Cause]:
    """Everything that turns ``feature`` of unit ``index`` on, each with its remedy."""
    found: list[Cause] = []
    dependents = graph.dependents()
    seen: set[tuple[int, str]] = set()
    todo: deque[tuple[int, str, tuple[str, ...]]] = deque([(index, feature, ())])
    while todo:
        at, name, below = todo.popleft()
        if (at, name) in seen:
            continue
        seen.add((at, name))
        unit = graph.units[at]
        path = (f"{unit.package} (feature `{name}`)", *below)
        if at in graph.roots and (cause := _own_default(graph, unit, name, path)):
            found.append(cause)
        for user in (graph.units[i] for i in dependents[at]):
            for spec in _specs(user, unit):
                found += _by_spec(graph, user, unit, spec, name, path)
                todo.extend(
                    (user.index, activator, path)
                    for activator in _activators(user, unit, spec, name)
                )
    return found


def _own_default(graph: Graph, unit: Unit, name: str, path: tuple[str, ...]) -> Cause | None:
    """A selected package's own feature, on by default or by option."""
    manifest = unit.package.manifest
    by_default = name in closure(manifest["features"], ["default"])
    option = "--no-default-features" if by_default else f"no --features {name}"
    remedy = f"import with {option}, or take `{name}` out of the features of {unit.package.name}"
    return Cause(path, manifest["manifest_path"], not unit.package.source, remedy)


def _specs(user: Unit, unit: Unit) -> Iterator[dict[str, Any]]:
    """The entries of ``user``'s manifest that name ``unit``'s package."""
    for spec in user.package.manifest["dependencies"]:
        if spec["name"] == unit.package.name and spec["kind"] is None:
            yield spec


def _by_spec(
    graph: Graph, user: Unit, unit: Unit, spec: dict[str, Any], name: str, path: tuple[str, ...]
) -> list[Cause]:
    """What to do when the entry itself turns the feature on."""
    features = unit.package.manifest["features"]
    listed = [f for f in spec["features"] if name in closure(features, [f])]
    default = spec["uses_default_features"] and name in closure(features, ["default"])
    if not listed and not default:
        return []
    if user.package.source:
        # Nobody can edit that manifest; but the entry may be there for a feature only.
        optional = _of_entry(graph, user, spec, path) if spec["optional"] else None
        found = optional or presence(graph, user.index, path)
        if found:
            return found
        remedy = (
            f"{user.package} always turns it on: use another version or crate in its place,"
            " or patch it"
        )
    else:
        steps = []
        if default:
            steps.append("`default-features = false`")
        if listed:
            steps.append("no " + ", ".join(f'"{f}"' for f in listed) + " in its features")
        dependency = spec["rename"] or spec["name"]
        remedy = f"in {user.package.name}'s Cargo.toml give `{dependency}` {' and '.join(steps)}"
    above = chain(graph, user.index)
    manifest = user.package.manifest["manifest_path"]
    return [Cause((*above, *path), manifest, not user.package.source, remedy)]


def presence(graph: Graph, index: int, below: tuple[str, ...] = ()) -> list[Cause]:
    """What brings a unit's package in, where features do; empty when it is there without one.

    ``below``: the rest of the chain, to be shown behind the package.
    """
    dependents = graph.dependents()
    found: list[Cause] = []
    seen = {index}
    todo: deque[tuple[int, tuple[str, ...]]] = deque([(index, ())])
    while todo:
        at, path = todo.popleft()
        unit = graph.units[at]
        path = (str(unit.package), *path)
        if at in graph.roots:
            return []  # no feature on this way
        for user in (graph.units[i] for i in dependents[at]):
            for spec in _specs(user, unit):
                if spec["optional"]:
                    found += _of_entry(graph, user, spec, (*path, *below))
                elif user.index not in seen:
                    seen.add(user.index)
                    todo.append((user.index, path))
    return found


def _of_entry(graph: Graph, user: Unit, spec: dict[str, Any], path: tuple[str, ...]) -> list[Cause]:
    """What turns on the features of ``user`` for which it has an optional dependency."""
    dependency = spec["rename"] or spec["name"]
    table = user.package.manifest["features"]
    found: list[Cause] = []
    for own in user.features:
        brings = [f"dep:{dependency}", dependency]
        if any(
            item in brings or (item.startswith(f"{dependency}/") and "?" not in item)
            for item in table.get(own, [])
        ):
            for cause in causes(graph, user.index, own):
                found.append(replace(cause, chain=(*cause.chain, *path)))
    return found


def _activators(user: Unit, unit: Unit, spec: dict[str, Any], name: str) -> list[str]:
    """The enabled features of ``user`` that turn the feature of its dependency on."""
    dependency = spec["rename"] or spec["name"]
    features = unit.package.manifest["features"]
    found = []
    for own in user.features:
        for item in user.package.manifest["features"].get(own, []):
            target, slash, wanted = item.partition("/")
            if (
                slash
                and target.removesuffix("?") == dependency
                and name in closure(features, [wanted])
            ):
                found.append(own)
    return found

"""Checks across a project: names that must exist, circles, crates in the wrong place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fatcrate.rules import errors
from fatcrate.rules.ninja import options, partitions
from fatcrate.rules.ninja.model import Crate, Dep, Project, Target
from fatcrate.rules.ninja.yamlfile import suggestion
from fatcrate.toolchain.diagnostics import Collector, Diagnostic


def check(project: Project, faults: Collector) -> None:
    """Adds every fault to ``faults``."""
    for crate in project.crates.values():
        _known(project, f"crates.{crate.key}.deps", crate.deps, faults)
        if crate.script is not None:
            _known(project, f"crates.{crate.key}.build_script.deps", crate.script.deps, faults)
        _distinct(project, crate, faults)
    for target in project.targets.values():
        _known(project, f"kernels.{target.name}.crates", target.crates, faults)
        _device_code(project, target, faults)
        partitions.check(project, target, faults)
        _whole_program(target, faults)
    for chain in circles(project):
        _circle(project, chain, faults)
    _symbols(project.targets.values(), faults)


def _hint(project: Project, name: str) -> str:
    """The nearest crate; nothing among thousands, where looking for each would take minutes."""
    if len(project.crates) > 3000:
        return f"it is none of the {len(project.crates)} crates"
    return suggestion(name, sorted(project.crates), "crates")


def _known(project: Project, subject: str, deps: Iterable[Dep], faults: Collector) -> None:
    """Every dependency is declared."""
    for dep in deps:
        if dep.crate and dep.crate not in project.crates:
            faults.add(
                Diagnostic(
                    errors.UNKNOWN_CRATE,
                    subject,
                    f"there is no crate '{dep.crate}'",
                    _hint(project, dep.crate),
                    dep.location,
                )
            )


def extern_name(project: Project, dep: Dep) -> str:
    """What the dependency is called in the code that uses it."""
    return dep.extern or project.crates[dep.crate].name


def _distinct(project: Project, crate: Crate, faults: Collector) -> None:
    """No two dependencies of a crate have the same name in its code."""
    seen: dict[str, str] = {}
    for dep in crate.deps:
        if dep.crate not in project.crates:
            continue
        name = extern_name(project, dep)
        if seen.get(name) == dep.crate:
            faults.add(
                Diagnostic(
                    errors.BAD_VALUE,
                    f"crates.{crate.key}.deps",
                    f"'{dep.crate}' is listed twice",
                    "list it once",
                    dep.location,
                )
            )
        elif name in seen:
            faults.add(
                Diagnostic(
                    errors.BAD_NAME,
                    f"crates.{crate.key}.deps",
                    f"'{seen[name]}' and '{dep.crate}' are both called '{name}' in its code",
                    f"rename one: deps: [{{other_name: {dep.crate}}}]",
                    dep.location,
                )
            )
        seen[name] = dep.crate


def _device_code(project: Project, target: Target, faults: Collector) -> None:
    """A target is made of device crates."""
    for dep in target.crates:
        crate = project.crates.get(dep.crate)
        if crate is not None and crate.proc_macro:
            faults.add(
                Diagnostic(
                    errors.WRONG_CRATE_KIND,
                    f"kernels.{target.name}.crates",
                    f"'{crate.key}' is a proc-macro crate and holds no device code",
                    "name the crates that hold the kernels",
                    dep.location,
                )
            )


def _whole_program(target: Target, faults: Collector) -> None:
    """Symbols are asked about in one module."""
    for key in options.SYMBOL_KEYS:
        if target.questions.get(key) and (target.partitions or target.auto_partitions):
            faults.add(
                Diagnostic(
                    errors.BAD_VALUE,
                    f"kernels.{target.name}.{key}",
                    "does not go with 'partitions': not every module has the symbol",
                    "ask for it in a target of its own, without partitions",
                    target.location,
                )
            )


def symbols(target: Target) -> list[str]:
    """Prefixes of the symbols in the target's host objects."""
    if target.relocatable or not (target.partitions or target.auto_partitions):
        return [target.symbol]
    return [f"{target.symbol}_{name}" for name in part_names(target)]


def part_names(target: Target) -> list[str]:
    """Names of the target's partitions; numbers where they are chosen by size."""
    if target.auto_partitions:
        return [str(number + 1) for number in range(target.auto_partitions)]
    return [part.name for part in target.partitions]


def circles(project: Project) -> Iterator[list[str]]:
    """Circles of dependencies, one for each edge that closes one: [a, b, a]."""
    done: set[str] = set()
    for start in project.crates:
        if start in done:
            continue
        # Depth first without recursion: crate -> its dependencies still to be seen.
        path: dict[str, Iterator[Dep]] = {start: iter(project.crates[start].all_deps)}
        while path:
            key = next(reversed(path))
            dep = next(path[key], None)
            if dep is None:
                del path[key]
                done.add(key)
            elif dep.crate in path:
                chain = list(path)
                yield [*chain[chain.index(dep.crate) :], dep.crate]
            elif dep.crate in project.crates and dep.crate not in done:
                path[dep.crate] = iter(project.crates[dep.crate].all_deps)


def _circle(project: Project, chain: list[str], faults: Collector) -> None:
    closing = next(dep for dep in project.crates[chain[-2]].all_deps if dep.crate == chain[-1])
    faults.add(
        Diagnostic(
            errors.CYCLE,
            f"crates.{chain[-2]}.deps",
            f"the crates depend on each other in a circle: {' -> '.join(chain)}",
            "move what both need into a crate of its own",
            closing.location,
        )
    )


def _symbols(targets: Iterable[Target], faults: Collector) -> None:
    """Host objects of two targets can be linked into one program."""
    seen: dict[str, Target] = {}
    for target in targets:
        for symbol in dict.fromkeys([target.symbol, *symbols(target)]):
            other = seen.setdefault(symbol, target)
            if other is not target:
                faults.add(
                    Diagnostic(
                        errors.BAD_NAME,
                        f"kernels.{target.name}",
                        f"its symbols would be those of '{other.name}', with prefix '{symbol}'",
                        "choose another name, or give one of them a 'symbol'",
                        target.location,
                    )
                )
                break

"""Reads the ``kernels:`` part of the project file: what is linked, for which archs, how."""

from __future__ import annotations

import platform
import re

from fatcrate.rules import errors
from fatcrate.rules.ninja import options, partitions
from fatcrate.rules.ninja.model import Dep, Target
from fatcrate.rules.ninja.yamlfile import Entry, Node, Reader, Section, keys
from fatcrate.toolchain import arch, names
from fatcrate.toolchain.diagnostics import FatcrateError, Location

COMPRESS_MODES = ("none", "default", "speed", "size", "balanced")
#: Checks that ``fatcrate pack --allow`` and ``--deny`` take.
PACK_CHECKS = (
    *("all", "cut-off", "duplicate", "kind-mismatch", "missing-compat", "never-chosen"),
    *("ptx-beats-cubin", "ptx-version", "relocatable", "sm-mismatch", "suffix-mismatch"),
    *("target-mismatch", "uncovered-device"),
)
#: Names that stand for several archs, resolved when the toolchain is known.
ARCH_GROUPS = ("all", "all-major")
#: Limits for a kernel's resources; see ``fatcrate assemble --help``.
BUDGETS = ("max_registers", "max_spill_bytes", "max_shared", "max_stack", "min_occupancy")

#: Keys of a target.
KEYS = (
    "crates",
    "archs",
    "host",
    "exports",
    *options.CODE_KEYS,
    *options.QUESTION_KEYS,
    "engine",
    "map",
    "remarks",
    "time_trace",
    "relocatable",
    "partitions",
    "panic",
    "ptxas_options",
    "budgets",
    "compress",
    "allow",
    "deny",
    "symbol",
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_AMOUNT = re.compile(r"[0-9]+")
_SHARE = re.compile(r"(?:0(?:\.[0-9]+)?|1(?:\.0+)?)@([0-9]+)")
_LARGEST_BLOCK = 1024  # threads, on every device

#: Longer names make names of files that file systems refuse (255 bytes at most).
LONGEST_NAME = 200
SHORTER = f"at most {LONGEST_NAME} characters, since it becomes part of names of files"

#: Options of ptxas that the ASSEMBLE step gives itself, and those that make it do something
#: else. One dash or two, as ptxas takes them.
_OUR_OPTIONS = re.compile(
    r"--?(arch|gpu-name|o|output-file|input-as-string|ias|options-file|optf|dryrun|help|h|version|V"
    r"|list-arch|arch-ls|list-version|version-ls)(=.*)?"
)

#: Folders of the output folder that are not a target's.
_TAKEN = frozenset(("crates", "crates-abort", "crates-host"))


def read(reader: Reader, node: Node | None) -> dict[str, Target]:
    """The targets by name; faults go to the reader."""
    targets: dict[str, Target] = {}
    if node is None:
        return targets
    for name, item in reader.mapping(node, "kernels").items():
        problem = name_problem(name)
        if problem is not None:
            reader.fault(errors.BAD_NAME, "kernels", problem[0], item.key, problem[1])
        else:
            targets[name] = _target(reader, name, item)
    return targets


def name_problem(name: str) -> tuple[str, str] | None:
    """Why a target cannot have this name, and the rule; None when it can."""
    if len(name) > LONGEST_NAME:
        return too_long(name), SHORTER
    if not _NAME.fullmatch(name) or name in _TAKEN:
        taken = "is taken" if name in _TAKEN else "cannot be a target's name"
        rule = "a target's name is made of ASCII letters, digits, _ and -, a letter first"
        return f"'{name}' {taken}", rule
    return None


def too_long(name: str) -> str:
    """The message for a name of more than :data:`LONGEST_NAME` characters."""
    return f"'{name[:20]}…' is a name of {len(name)} characters"


def _target(reader: Reader, name: str, item: Entry) -> Target:
    section = Section(reader, item.value, f"kernels.{name}", KEYS)
    section.required("crates", "name the crates whose kernels it holds")
    section.required("archs", f"list archs: {arch.SPELLINGS}, {', '.join(ARCH_GROUPS)}")
    crates = _crates(section)
    parts, automatic = partitions.read(section, len(crates))
    return Target(
        name=name,
        crates=crates,
        archs=archs(section),
        host=section.choices("host", names.HOSTS, _this_machine()),
        exports=exports(section),
        code=options.code(section),
        questions=options.questions(section),
        engine=section.choice("engine", options.ENGINES, options.ENGINES[0]),
        map=section.boolean("map"),
        remarks=section.boolean("remarks"),
        time_trace=section.boolean("time_trace"),
        relocatable=section.boolean("relocatable"),
        partitions=parts,
        auto_partitions=automatic,
        partitions_at=reader.location(section.get("partitions")),
        engine_at=reader.location(section.get("engine")),
        relocatable_at=reader.location(section.get("relocatable")),
        places=_places(section),
        panic=section.choice("panic", names.PANIC_STRATEGIES, names.PANIC_STRATEGIES[0]),
        min_driver_at=reader.location(section.get("min_driver")),
        ptxas_options=_ptxas_options(section),
        budgets=_budgets(section),
        compress=section.choice("compress", COMPRESS_MODES, "balanced"),
        allow=section.choices("allow", PACK_CHECKS, ()),
        deny=section.choices("deny", PACK_CHECKS, ()),
        symbol=_symbol(section, name),
        location=reader.location(item.key),
    )


def _crates(section: Section) -> tuple[Dep, ...]:
    items = section.items("crates")
    if "crates" in section.entries and not items:
        section.fault(errors.BAD_VALUE, "crates", "must name at least one crate")
    subject = f"{section.subject}.crates"
    found = []
    for item in items:
        key = section.reader.item(item, subject, "the name of a crate")
        if key:
            found.append(Dep("", key, section.reader.location(item)))
    return tuple(found)


def archs(section: Section) -> tuple[tuple[str, Location], ...]:
    """The archs as written, each checked for its spelling."""
    found: list[tuple[str, Location]] = []
    items = section.items("archs")
    if "archs" in section.entries and not items:
        section.fault(errors.BAD_VALUE, "archs", "must name at least one arch")
    for item in items:
        location = section.reader.location(item)
        subject = f"{section.subject}.archs"
        texts = section.reader.text_value(item, subject, "an arch")
        if isinstance(item.value, str) and not item.value.replace(",", " ").split():
            section.reader.fault(errors.BAD_VALUE, subject, "must name at least one arch", item)
        for text in texts.replace(",", " ").split():
            try:
                if text not in ARCH_GROUPS:
                    arch.parse(text)
                found.append((text, location))
            except FatcrateError as error:
                for fault in error.diagnostics:
                    section.reader.faults.add(fault._replace(location=location))
    return tuple(found)


def exports(section: Section) -> tuple[str, ...]:
    """Names of kernels; without the key all are exported."""
    if "exports" in section.entries and not section.items("exports"):
        remedy = "leave the key out to export all kernels"
        section.fault(errors.BAD_VALUE, "exports", "names no kernel", remedy)
    return section.texts("exports")


def _ptxas_options(section: Section) -> tuple[str, ...]:
    for item in section.items("ptxas_options"):
        if _OUR_OPTIONS.fullmatch(str(item.value)):
            section.reader.fault(
                errors.BAD_VALUE,
                f"{section.subject}.ptxas_options",
                f"cannot hold '{item.value}': the build sets that itself",
                item,
            )
    return section.texts("ptxas_options")


def _places(section: Section) -> tuple[tuple[str, Location], ...]:
    """Where kernels and symbols are named: those that are exported, kept or have a budget."""
    reader = section.reader
    found: dict[str, Location] = {}
    for key in ("exports", "undefined"):
        for item in section.items(key):
            if isinstance(item.value, str):
                found.setdefault(item.value, reader.location(item))
    for key_node in keys(section.get("budgets")):
        if key_node.value not in BUDGETS:
            found.setdefault(key_node.value, reader.location(key_node))
    return tuple(found.items())


def _budgets(section: Section) -> tuple[str, ...]:
    """Limits as the ASSEMBLE step takes them: those of all kernels, then of single ones."""
    node = section.get("budgets")
    if node is None:
        return ()
    reader, subject = section.reader, f"{section.subject}.budgets"
    found: list[str] = []
    for name, entry in reader.mapping(node, subject).items():
        if name in BUDGETS:
            found.append(f"{name}={_limit(reader, f'{subject}.{name}', name, entry.value)}")
            continue
        for limit, inner in reader.mapping(entry.value, f"{subject}.{name}", BUDGETS).items():
            value = _limit(reader, f"{subject}.{name}.{limit}", limit, inner.value)
            found.append(f"{name}:{limit}={value}")
    return tuple(found)


def _limit(reader: Reader, subject: str, name: str, node: Node) -> str:
    share = name == "min_occupancy"
    value = reader.text_value(node, subject, "a number")
    match = (_SHARE if share else _AMOUNT).fullmatch(value)
    if match and share and not 1 <= int(match[1][:9]) <= _LARGEST_BLOCK:
        rule = f"blocks have 1 to {_LARGEST_BLOCK} threads, as in 0.5@256"
        reader.fault(errors.BAD_VALUE, subject, f"cannot be '{value}'", node, rule)
    elif value and not match:
        rule = "write a share and a block size, such as 0.5@256" if share else "write a number"
        reader.fault(errors.BAD_VALUE, subject, f"cannot be '{value}'", node, rule)
    return value


def _symbol(section: Section, name: str) -> str:
    """The prefix of the host object's symbols."""
    symbol = section.text("symbol", name.replace("-", "_"))
    if not _SYMBOL.fullmatch(symbol):
        rule = "a symbol is made of ASCII letters, digits and _, a digit not first"
        section.fault(errors.BAD_NAME, "symbol", f"cannot be '{symbol}'", rule)
    return symbol


def _this_machine() -> tuple[str, ...]:
    machine = platform.machine()
    return (machine if machine in names.HOSTS else names.HOSTS[0],)

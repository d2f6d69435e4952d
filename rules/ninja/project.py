"""Reads the project file ``fatcrate.yaml`` into the model.

Reading is pure: the text comes in, and ``exists`` answers whether a file is there. All
faults are gathered and raised together. docs/ninja.md describes every key for users.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fatcrate.rules import errors
from fatcrate.rules.cargo import package_env
from fatcrate.rules.ninja import checks, kernels
from fatcrate.rules.ninja.kernels import LONGEST_NAME, SHORTER, too_long
from fatcrate.rules.ninja.model import Crate, Dep, Project, Script
from fatcrate.rules.ninja.yamlfile import WHOLE_FILE, Entry, Node, Reader, Section, is_null

FILE = "fatcrate.yaml"

EDITIONS = ("2015", "2018", "2021", "2024")
CRATE_OPT_LEVELS = ("0", "1", "2", "3", "s", "z")
DEBUG_LEVELS = (
    "0",
    "1",
    "2",
    "none",
    "line-directives-only",
    "line-tables-only",
    "limited",
    "full",
)

_TOP_KEYS = ("version", "crates", "kernels", "defaults")
_DEFAULT_KEYS = ("edition", "opt_level", "debug", "cfgs", "rustc_flags")
_CRATE_KEYS = (
    *_DEFAULT_KEYS,
    *("path", "name", "deps", "features", "env", "proc_macro", "package", "build_script"),
)
_PACKAGE_KEYS = ("dir", *package_env.FIELDS)
_SCRIPT_KEYS = ("path", "edition", "deps", "links")

_CRATE_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]*")
_RUST_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

#: What helps where a project has neither crates nor kernels.
_FIRST = "declare a crate, as in `kern: {path: kern.rs}` below `crates:`"

#: Names that rustc, its sysroot or the language has already.
_TAKEN_CRATES = frozenset(
    ("_", "alloc", "compiler_builtins", "core", "crate", "proc_macro", "self", "std", "super")
)
#: Flags that the recipe gives itself; a second one would move or mislabel outputs.
_OUR_FLAGS = re.compile(
    r"-o.*|--(out-dir|emit|crate-name|crate-type|target|sysroot|edition)(=.*)?|-Cmetadata=.*"
)


@dataclass
class Loader:
    """Turns the nodes of one file into a :class:`Project`."""

    reader: Reader
    root: str  # absolute path of the project's folder
    exists: Callable[[str], bool]  # takes a path as the model has it

    def project(self, builtin: Iterable[Crate]) -> Project:
        """The project; raises every fault together."""
        node = self.reader.parse()
        if node is None:
            self.reader.fault(errors.MISSING_KEY, FILE, "is empty", None, "start with 'version: 1'")
            self.reader.faults.check()
            return Project({}, {})
        top = Section(self.reader, node, WHOLE_FILE, _TOP_KEYS)
        top.required("version", "write 'version: 1' in the first line")
        top.choice("version", ("1",), "1")
        if "kernels" not in top.entries:
            top.required("crates")
        defaults = self._defaults(top.get("defaults"))
        crates = {crate.key: _with_defaults(crate, defaults) for crate in builtin}
        supplied = len(crates)
        self._crates(top.get("crates"), defaults, crates)
        targets = kernels.read(self.reader, top.get("kernels"))
        project = Project(crates, targets)
        checks.check(project, self.reader.faults)
        self.reader.faults.check()
        if not targets and len(crates) == supplied:
            self.reader.fault(errors.MISSING_KEY, FILE, "names nothing to build", node, _FIRST)
            self.reader.faults.check()
        return project

    def _defaults(self, node: Node | None) -> Crate:
        """A nameless crate that holds the defaults of all others."""
        base = Crate("", "", "", "")
        if node is None:
            return base
        return _common(Section(self.reader, node, "defaults", _DEFAULT_KEYS), base)

    def _crates(self, node: Node | None, defaults: Crate, crates: dict[str, Crate]) -> None:
        if node is None:
            return
        for key, item in self.reader.mapping(node, "crates").items():
            if key in crates:
                self.reader.fault(
                    errors.BAD_NAME,
                    f"crates.{key}",
                    "is the name of the device library, which is always there",
                    item.key,
                    "choose another name",
                )
            elif len(key) > LONGEST_NAME:
                self.reader.fault(errors.BAD_NAME, "crates", too_long(key), item.key, SHORTER)
            elif not _CRATE_KEY.fullmatch(key):
                rule = "a crate's name is made of ASCII letters, digits and _ . @ + -"
                self.reader.fault(errors.BAD_NAME, "crates", f"cannot hold '{key}'", item.key, rule)
            else:
                crates[key] = self._crate(key, item, defaults)

    def _crate(self, key: str, item: Entry, defaults: Crate) -> Crate:
        section = Section(self.reader, item.value, f"crates.{key}", _CRATE_KEYS)
        location = self.reader.location(item.key)
        source, folder = self._source(section, key)
        outside = os.path.isabs(source) or source.startswith("..")
        name = self._rust_name(section, key, item.key)
        manifest_dir, package = self._package(section, name)
        return dataclasses.replace(
            _common(section, defaults),
            key=key,
            name=name,
            source=source,
            origin=f"crate/{key}" if outside else source,
            remaps=((folder, f"/crates/{key}"),) if outside else (),
            deps=self._deps(section, "deps"),
            features=section.texts("features"),
            env=tuple((package | dict(self._env(section))).items()),
            manifest_dir=manifest_dir,
            script=self._script(section, key),
            proc_macro=section.boolean("proc_macro"),
            location=location,
        )

    def _package(self, section: Section, name: str) -> tuple[str, dict[str, str]]:
        """Folder of the crate's Cargo package, and the variables that describe it."""
        node = section.get("package")
        if node is None:
            return "", {}
        inner = Section(self.reader, node, f"{section.subject}.package", _PACKAGE_KEYS)
        fields = {field: inner.text(field) for field in package_env.FIELDS}
        folder = inner.text("dir")
        return folder and _inside(os.path.normpath(folder), self.root), (
            package_env.of_crate(fields, name)
        )

    def _script(self, section: Section, key: str) -> Script | None:
        node = section.get("build_script")
        if node is None:
            return None
        inner = Section(self.reader, node, f"{section.subject}.build_script", _SCRIPT_KEYS)
        return Script(
            self._source(inner, key)[0],
            inner.choice("edition", EDITIONS, "2021"),
            self._deps(inner, "deps"),
            inner.text("links"),
        )

    def _rust_name(self, section: Section, key: str, node: Node) -> str:
        """The crate's name in Rust: `name`, or the key with `-` as `_`."""
        name = section.text("name") or key.replace("-", "_")
        if len(name) > LONGEST_NAME:
            at = section.get("name") or node
            self.reader.fault(errors.BAD_NAME, section.subject, too_long(name), at, SHORTER)
            return "_"
        if _RUST_NAME.fullmatch(name) and name not in _TAKEN_CRATES:
            return name
        self.reader.fault(
            errors.BAD_NAME,
            section.subject,
            f"'{name}' cannot be the name of a crate in Rust",
            section.get("name") or node,
            "give it a 'name' of ASCII letters, digits and _, not one of Rust's own",
        )
        return "_"

    def _source(self, section: Section, key: str) -> tuple[str, str]:
        """Root source file and folder of a crate."""
        remedy = "write 'path: FILE.rs', or 'path: FOLDER' with src/lib.rs or lib.rs in it"
        node = section.required("path", remedy)
        if node is None:
            return "", ""
        if node.value == "" and not is_null(node):
            section.fault(errors.BAD_VALUE, "path", "is empty", remedy)
        if not section.text("path"):
            return "", ""
        path = _inside(os.path.normpath(section.text("path")), self.root)
        if path.endswith(".rs"):
            tried, folder = [path], os.path.dirname(path) or "."
        else:
            tried = [os.path.normpath(f"{path}/src/lib.rs"), os.path.normpath(f"{path}/lib.rs")]
            folder = path
        for source in tried:
            if self.exists(source):
                return source, folder
        section.fault(errors.NO_SOURCE, "path", f"there is no {' and no '.join(tried)}", remedy)
        return "", ""

    def _deps(self, section: Section, key: str) -> tuple[Dep, ...]:
        """A list of names of crates; `{extern: name}` renames one."""
        deps: list[Dep] = []
        subject = f"{section.subject}.{key}"
        for item in section.items(key):
            location = self.reader.location(item)
            if hasattr(item, "value") and isinstance(item.value, str):
                if name := self.reader.item(item, subject):
                    deps.append(Dep("", name, location))
                continue
            for extern, entry in self.reader.mapping(item, subject).items():
                if not _RUST_NAME.fullmatch(extern):
                    self.reader.fault(
                        errors.BAD_NAME, subject, f"'{extern}' is no name in Rust", entry.key
                    )
                deps.append(Dep(extern, self.reader.text_value(entry.value, subject), location))
        return tuple(deps)

    def _env(self, section: Section) -> tuple[tuple[str, str], ...]:
        node = section.get("env")
        if node is None:
            return ()
        subject = f"{section.subject}.env"
        found: list[tuple[str, str]] = []
        for name, entry in self.reader.mapping(node, subject).items():
            if not _RUST_NAME.fullmatch(name):
                self.reader.fault(
                    errors.BAD_NAME, subject, f"'{name}' is no name of a variable", entry.key
                )
            value = entry.value.value
            if not isinstance(value, str):
                self.reader.wrong_type(f"{subject}.{name}", "text", entry.value)
                value = ""
            self.reader.printable(entry.value, f"{subject}.{name}")
            found.append((name, value))
        return tuple(found)


def _with_defaults(crate: Crate, defaults: Crate) -> Crate:
    """A built-in crate takes the defaults of the code's quality, not those of its language."""
    return dataclasses.replace(crate, opt_level=defaults.opt_level, debug=defaults.debug)


def _common(section: Section, base: Crate) -> Crate:
    """``base`` with the keys that ``defaults`` and crates share."""
    for item in section.items("rustc_flags"):
        if _OUR_FLAGS.fullmatch(str(item.value)):
            section.reader.fault(
                errors.BAD_VALUE,
                f"{section.subject}.rustc_flags",
                f"cannot hold '{item.value}': the build sets that itself",
                item,
            )
    return dataclasses.replace(
        base,
        edition=section.choice("edition", EDITIONS, base.edition),
        opt_level=section.choice("opt_level", CRATE_OPT_LEVELS, base.opt_level),
        debug=section.choice("debug", DEBUG_LEVELS, base.debug),
        cfgs=base.cfgs + section.texts("cfgs"),
        rustc_flags=base.rustc_flags + section.texts("rustc_flags"),
    )


def _inside(path: str, root: str) -> str:
    """``path`` relative to ``root`` where it is an absolute path below it."""
    if os.path.isabs(path) and path.startswith(root + "/"):
        return path[len(root) + 1 :]
    return path


def load(
    text: str, file: str, root: str, exists: Callable[[str], bool], builtin: Iterable[Crate]
) -> Project:
    """Reads a project file's text. ``file`` is its name in messages, ``root`` its folder.

    Raises FC0110 to FC0121, all faults together.
    """
    return Loader(Reader(file, text), root, exists).project(builtin)

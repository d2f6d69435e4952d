"""``fatcrate new``: a project that builds at once, from a template.

Templates lie in ``rules/templates``. ``plain`` is part of each; what a template has itself
replaces that. In names and texts :data:`_NAME` stands for the project's name, ``FATCRATE`` in
Bazel's files for the checkout. The suffix ``.in`` keeps Bazel and others from reading a
template as a file of fatcrate's own.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from fatcrate.rules import errors
from fatcrate.toolchain.diagnostics import fail

_TEMPLATES = Path(__file__).resolve().parent / "templates"
_NAME = "my_kernels"


@dataclass(frozen=True)
class Template:
    """A template: what it is, what ``plain`` has that it lacks, and what to do first."""

    summary: str
    without: tuple[str, ...] = ()
    first: tuple[str, ...] = ("fatcrate build",)


TEMPLATES = {
    "plain": Template("kernels alone, with a test on the CPU"),
    "cpp": Template("a C++ program that launches a kernel, and a Makefile", first=("make run",)),
    "python": Template(
        "a Python program that launches a kernel", first=("fatcrate build", "python host.py")
    ),
    "bazel": Template(
        "kernels and a C++ program, built by Bazel",
        without=("fatcrate.yaml", "tests/test_kernels.py"),
        first=("bazel run //:host",),
    ),
}

#: Rust's keywords, names of crates that are taken, the kernel of the templates, and what YAML
#: takes for a value of its own.
_TAKEN = re.compile(
    "abstract|alloc|as|async|await|become|box|break|compiler_builtins|const|continue|core|crate"
    "|do|dyn|else|enum|extern|false|final|fn|for|gen|gpu|if|impl|in|let|loop|macro|match|mod|move"
    "|mut|override|priv|proc_macro|pub|ref|return|saxpy|self|static|std|struct|super|trait|true"
    "|try|type|typeof|unsafe|unsized|use|virtual|where|while|yield|(?i:null|true|false)"
)


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate new``."""
    listed = "\n".join(f"  {name:<7} {item.summary}" for name, item in TEMPLATES.items())
    made = argparse.ArgumentParser(
        prog="fatcrate new",
        description="Start a project that builds at once.",
        epilog=f"templates:\n{listed}\n\nexamples:\n  fatcrate new vision\n"
        "  fatcrate new vision --template cpp",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("path", metavar="NAME", help="a new folder; its last part is the name")
    made.add_argument(
        "--template", choices=TEMPLATES, default="plain", help="what to start from (plain)"
    )
    return made


def main(argv: list[str]) -> int:
    """Runs the command; see ``--help``."""
    args = parser().parse_args(argv)
    target = Path(args.path).resolve()
    name = _crate_name(target.name if args.path else "")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        fail(
            errors.NOT_EMPTY,
            args.path,
            "is there already and holds something" if target.is_dir() else "is a file",
            remedy="choose a new folder",
        )
    values = {_NAME: name}
    if args.template == "bazel":
        values["FATCRATE"] = _checkout()
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        for path, text in files(args.template, values).items():
            place = temporary / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        if target.is_dir():  # empty; perhaps the current one
            for entry in sorted(temporary.iterdir()):
                entry.rename(target / entry.name)
        else:
            temporary.rename(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    steps = " && ".join([f"cd {args.path}", *TEMPLATES[args.template].first])
    print(f"fatcrate: made {args.path}; next: {steps}", file=sys.stderr)
    return 0


def files(template: str, values: dict[str, str]) -> dict[str, str]:
    """The files of a project: path -> text."""
    found: dict[str, str] = {}
    for layer in dict.fromkeys(("plain", template)):
        base = _TEMPLATES / layer
        for path in sorted(base.rglob("*")):
            name = str(path.relative_to(base)).removesuffix(".in")
            dropped = layer != template and name in TEMPLATES[template].without
            if path.is_file() and not dropped and "__pycache__" not in path.parts:
                found[name] = path.read_text(encoding="utf-8")
    for old, new in values.items():
        found = {name.replace(old, new): text.replace(old, new) for name, text in found.items()}
    return found


def _crate_name(name: str) -> str:
    """A folder's name as a crate's. Raises FC0119 where it cannot be one."""
    crate = name.replace("-", "_")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", crate) or _TAKEN.fullmatch(crate):
        fail(
            errors.BAD_NAME,
            name or "an empty name",
            "cannot be the name of a crate and of a target",
            remedy="take ASCII letters, digits, _ and -, a letter first, and no word of Rust's"
            " or YAML's, and none of core, alloc, std, gpu and saxpy, which are taken",
        )
    return crate


def _checkout() -> str:
    """The checkout of fatcrate that Bazel loads the rules from."""
    root = Path(__file__).resolve().parent.parent
    if not (root / "extensions.bzl").exists():
        fail(
            errors.NO_TOOL,
            str(root),
            "holds no rules for Bazel: fatcrate was installed as a package",
            remedy="run `fatcrate new` of a checkout of fatcrate, which Bazel can load",
        )
    return str(root)

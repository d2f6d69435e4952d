"""House rules for files: size, docstrings, nothing of this or that machine in them."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

MAX_FILE_LINES = 440
MAX_FUNCTION_LINES = 60

#: Data and generated files.
NOT_SOURCE = re.compile(
    r"LICENSE|toolchain/setup/.*\.(txt|json)$|.*\.lock$|.*/testdata/|.*/vendor/|tests/corpus/"
)

#: Absolute places of one machine, and hosts to download from.
_MACHINE = re.compile(
    r"(?<![\w.$}])/(?:work|home|root|tmp/spike)/|\b(?:pypi|files\.pythonhosted|registry\.npmjs)\.org\b"
    r"|deb\.debian\.org|static\.rust-lang\.org|index\.crates\.io|download\.nvidia\.com"
)


def tracked(root: Path) -> list[Path]:
    """Files under version control that are there, links left out."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True, text=True
    ).stdout
    paths = [root / name for name in listing.split("\0") if name]
    return [p for p in paths if p.is_file() and not p.is_symlink()]


def text_files(root: Path) -> Iterator[tuple[str, str]]:
    for path in tracked(root):
        name = str(path.relative_to(root))
        if NOT_SOURCE.match(name):
            continue
        data = path.read_bytes()
        if b"\0" not in data:
            yield name, data.decode("utf-8")


def test_files_are_short(root: Path) -> None:
    suffixes = (".py", ".bzl", ".rs", ".sh")
    long = {
        name: text.count("\n")
        for name, text in text_files(root)
        if name.endswith(suffixes) and text.count("\n") > MAX_FILE_LINES
    }
    assert long == {}


def python_trees(root: Path) -> Iterator[tuple[str, ast.Module]]:
    for name, text in text_files(root):
        if name.endswith(".py"):
            yield name, ast.parse(text, name)


def test_functions_fit_on_a_screen(root: Path) -> None:
    long = []
    for name, tree in python_trees(root):
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MAX_FUNCTION_LINES:
                    long.append(f"{name}:{node.lineno}: {node.name} has {lines} lines")
    assert long == []


def test_public_things_are_documented(root: Path) -> None:
    bare = []
    for name, tree in python_trees(root):
        if name.startswith("tests/"):
            if ast.get_docstring(tree) is None:
                bare.append(name)
            continue
        if ast.get_docstring(tree) is None and tree.body:
            bare.append(name)
        for node in tree.body:
            public = isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_"
            if public and ast.get_docstring(node) is None:
                bare.append(f"{name}:{node.lineno}: {node.name}")
    assert bare == []


def test_nothing_of_one_machine(root: Path) -> None:
    found = []
    for name, text in text_files(root):
        if name == "tests/tidy/test_files.py":
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if _MACHINE.search(line):
                found.append(f"{name}:{number}: {line.strip()[:90]}")
    assert found == []


def test_text_is_clean(root: Path) -> None:
    unclean = []
    for name, text in text_files(root):
        if text and not text.endswith("\n"):
            unclean.append(f"{name}: no newline at the end")
        if "\r" in text:
            unclean.append(f"{name}: carriage return")
        # Tests hold texts with tabs and spaces on purpose; ruff looks after their code.
        suffixes = (".py", ".bzl", ".rs", ".md", ".yaml", ".toml")
        if name.endswith(suffixes) and not name.startswith("tests/"):
            for number, line in enumerate(text.splitlines(), 1):
                if line != line.rstrip() or "\t" in line:
                    unclean.append(f"{name}:{number}: tab or trailing space")
    assert unclean == []


def test_scripts_are_executable(root: Path) -> None:
    for path in tracked(root):
        ours = not NOT_SOURCE.match(str(path.relative_to(root)))
        if ours and path.read_bytes()[:2] == b"#!" and not path.read_bytes().startswith(b"#!["):
            assert path.stat().st_mode & 0o100, path


def test_no_commit_of_a_bazel_version(root: Path) -> None:
    """Debian's launcher refuses to run where .bazelversion names a version it lacks."""
    assert not (root / ".bazelversion").exists()

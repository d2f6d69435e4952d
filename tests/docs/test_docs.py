"""The documentation: its site builds without a dead link, and what its pages say is done.

A page is a sequence of directives, each an HTML comment before a fenced block:

``<!-- project NAME -->``  starts a new, empty folder (no block)
``<!-- file NAME -->``     the block is written into the folder
``<!-- run [STATUS] -->``  the lines with ``$`` are run, and what they print must be what follows;
                           ``…`` stands for any text, on a line of its own for any lines
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

_DIRECTIVE = re.compile(
    r"^<!-- (project|file|run) ?([^\n]*?) ?-->\n+(?:```\w*\n(.*?)^```$)?", re.DOTALL | re.MULTILINE
)
PAGES = ("tutorial.md", "howto.md", "crates.md")


@dataclass(frozen=True)
class Step:
    """One directive of a page; ``line`` is where it stands."""

    kind: str
    argument: str
    block: str
    line: int


def steps(text: str) -> list[Step]:
    """The directives of a page, in order."""
    return [
        Step(m[1], m[2].strip(), m[3] or "", text.count("\n", 0, m.start()) + 1)
        for m in _DIRECTIVE.finditer(text)
    ]


def matches(pattern: str, printed: str) -> bool:
    """Whether the output is what a page says; see the head of this file."""
    parts = []
    for line in pattern.splitlines():
        if line == "…":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(r"[^\n]*".join(re.escape(p) for p in line.split("…")) + r"\n")
    return (
        re.fullmatch(
            "".join(parts), printed if printed.endswith("\n") or not printed else printed + "\n"
        )
        is not None
    )


def commands(block: str) -> list[tuple[str, str]]:
    """(command, expected output) for each line with a ``$``."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        else:
            command, output = found.pop()
            found.append((command, f"{output}{line}\n"))
    return found


def run(command: str, folder: Path) -> tuple[int, str]:
    """Runs a command as a reader would; stdout and stderr together."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_says_happens(page: str, root: Path, tmp_path: Path) -> None:
    found = steps((root / "docs" / page).read_text(encoding="utf-8"))
    assert any(step.kind == "run" for step in found)
    folder = tmp_path
    for step in found:
        where = f"docs/{page}:{step.line}"
        if step.kind == "project":
            folder = tmp_path / step.argument
            folder.mkdir()
        elif step.kind == "file":
            assert step.block, where
            (folder / step.argument).write_text(step.block, encoding="utf-8")
        else:
            for command, expected in commands(step.block):
                code, printed = run(command, folder)
                assert code == int(step.argument or 0), f"{where}: {command}\n{printed}"
                assert matches(expected, printed), f"{where}: {command}\n{printed}"


def test_the_site_builds_without_dead_links(root: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "fatcrate import" in (tmp_path / "site" / "cli.html").read_text(encoding="utf-8")


_LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


def test_links_outside_of_the_site(root: Path) -> None:
    """Those of README and the like name files that are there."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md", ":!*/vendor/*"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    dead = []
    for name in listed.stdout.split():
        text = (root / name).read_text(encoding="utf-8")
        for target in _LINK.findall(text):
            generated = name.startswith("docs/") and target == "cli.md"
            if (
                "://" not in target
                and not generated
                and not (root / name).parent.joinpath(target).exists()
            ):
                dead.append(f"{name}: {target}")
    assert dead == []


def test_crates_page_lists_what_is_tested(root: Path) -> None:
    """Each dependency of tests/crates is in the table, with the version that the lock has."""
    import tomllib

    lock = tomllib.loads((root / "tests/crates/Cargo.lock").read_text())
    versions: dict[str, list[str]] = {}
    direct: set[str] = set()
    for package in lock["package"]:
        versions.setdefault(package["name"], []).append(package["version"])
        if package["name"].startswith("case-"):
            direct.update(package.get("dependencies", []))
    text = (root / "docs" / "crates.md").read_text(encoding="utf-8")
    for entry in sorted(direct - {"harness"}):
        name, _, version = entry.partition(" ")
        assert f"| `{name}` | {version or versions[name][0]} |" in text

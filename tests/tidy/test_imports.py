"""Who may import whom, read from the syntax trees."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGES = ("toolchain", "lto", "fatbin", "rules")

#: Package -> siblings that it may import. `rules` runs lto and fatbin as processes; its root
#: command names their modules in strings and imports them when they run.
MAY_IMPORT = {
    "toolchain": {"toolchain"},
    "lto": {"toolchain", "lto"},
    "fatbin": {"toolchain", "fatbin"},
    "rules": {"toolchain", "rules"},
}

#: Third-party package -> the only modules that import it (paths from the checkout).
OWNERS = {
    "llvmlite": {"lto/llvm.py"},
    # The second makes the nodes of TOML that the first reads.
    "yaml": {"rules/ninja/yamlfile.py", "rules/cargo/tomlfile.py"},
}

#: Steps that must start without LLVM.
LIGHT_COMMANDS = (
    "abi-check",
    "assemble",
    "compile",
    "doctor",
    "embed",
    "explain",
    "extract",
    "inspect",
    "pack",
    "recompress",
    "select",
    "strip",
    "sysroot",
    "build",
)


def modules(root: Path) -> Iterator[tuple[str, Path]]:
    """(package, file) of every Python module of ours."""
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            yield package, path


def imported(path: Path) -> Iterator[tuple[str, int]]:
    """Dotted names of everything that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            assert node.module is not None
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno


def test_directions(root: Path) -> None:
    wrong = []
    for package, path in modules(root):
        for name, line in imported(path):
            parts = name.split(".")
            if parts[0] != "fatcrate" or len(parts) < 2 or parts[1] not in PACKAGES:
                continue
            if parts[1] not in MAY_IMPORT[package]:
                wrong.append(f"{path.relative_to(root)}:{line}: imports {name}")
    assert wrong == []


def test_owners_of_foreign_libraries(root: Path) -> None:
    wrong = []
    for _, path in modules(root):
        for name, line in imported(path):
            owners = OWNERS.get(name.split(".")[0])
            if owners is not None and str(path.relative_to(root)) not in owners:
                wrong.append(f"{path.relative_to(root)}:{line}: imports {name}; only {owners} may")
    assert wrong == []


def test_starlark_loads_point_one_way(root: Path) -> None:
    """toolchain → providers → private → defs; the recipe loads nothing."""
    rank = {"toolchain": 0, "rules/providers.bzl": 1, "rules/private": 2, "rules/defs.bzl": 3}

    def level(path: str) -> int | None:
        return next((n for prefix, n in rank.items() if path.startswith(prefix)), None)

    wrong = []
    for path in sorted(root.glob("**/*.bzl")):
        name = str(path.relative_to(root))
        mine = level(name)
        if mine is None or name.startswith("."):
            continue
        text = path.read_text(encoding="utf-8")
        loads = [
            node.args[0].value
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "load"
            and isinstance(node.args[0], ast.Constant)
        ]
        for label in loads:
            if not label.startswith("//") and not label.startswith(":"):
                continue
            folder = str(Path(name).parent) if label.startswith(":") else ""
            target = label.removeprefix("//").replace(":", "/").lstrip("/")
            theirs = level(f"{folder}/{target}".lstrip("/"))
            if theirs is not None and theirs > mine:
                wrong.append(f"{name} loads {label}")
        if name.startswith("rules/private/recipe"):
            assert loads == []
    assert wrong == []


@pytest.mark.parametrize("command", LIGHT_COMMANDS)
def test_starts_without_llvm(command: str) -> None:
    """Runs the command's own start-up (up to its --help) and looks at what got imported."""
    code = (
        "import sys\n"
        "from fatcrate.rules import cli\n"
        "try:\n"
        f"    cli.main([{command!r}, '--help'])\n"
        "except SystemExit:\n"
        "    pass\n"
        "heavy = {'llvmlite', 'numpy', 'yaml'} & set(sys.modules)\n"
        "sys.exit(f'imports {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "usage:" in done.stdout


def test_step_sources_cover_what_the_steps_import(root: Path) -> None:
    """The digest of our own code sees every module that can change an output."""
    from fatcrate.rules import cli
    from fatcrate.toolchain import sources

    (steps,) = (group for heading, group in cli.GROUPS.items() if heading.startswith("steps"))
    todo = [command.entry.split(":")[0] for command in steps.values()]
    seen: set[str] = set()
    uncovered = set()
    while todo:
        name = todo.pop()
        path = root / (name.removeprefix("fatcrate.").replace(".", "/") + ".py")
        if name in seen or not path.exists():
            continue
        seen.add(name)
        relative = str(path.relative_to(root))
        if not any(relative == s or relative.startswith(f"{s}/") for s in sources.STEP_SOURCES):
            uncovered.add(relative)
        for found, _ in imported(path):
            todo += [found, found.rsplit(".", 1)[0]]
    # Messages, file writing and the search for packages have no say in what a step writes.
    neutral = ("atomic.py", "compat.py", "diagnostics.py", "errors.py", "guard.py")
    neutral += ("memory.py", "packages.py", "usage.py", "versions.py")
    assert {path for path in uncovered if not path.endswith(neutral)} == set()

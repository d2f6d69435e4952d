"""Runs Bazel for tests: offline, in this checkout or in a scratch workspace."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from fatcrate.rules.ninja import runner

CHECKOUT = Path(__file__).resolve().parent.parent.parent

#: What the steps make of one sysroot is worth keeping between runs of the tests; what they
#: make of everything else is the matter of the tests and is made anew.
CACHE = CHECKOUT / ".cache" / "bazel-sysroot"
_NO_CACHE = "Gpu(Compile|Link|Codegen|Assemble|AbiCheck|Pack|Embed)=+no-cache"

WORKSPACE = """\
workspace(name = "scratch")

local_repository(
    name = "fatcrate",
    path = "{checkout}",
)

load("@fatcrate//:repositories.bzl", "fatcrate_repositories", "fatcrate_toolchain_repositories")

fatcrate_repositories()

fatcrate_toolchain_repositories()

register_toolchains("@fatcrate_tools//:all")
"""


def program() -> str:
    """Bazel's path."""
    found = shutil.which("bazel")
    assert found, "these tests run Bazel: apt-get install bazel-bootstrap"
    return found


def fatcrate(*argv: str) -> list[str]:
    """The command ``fatcrate`` of the interpreter that runs the tests."""
    return [sys.executable, "-m", "fatcrate", *argv]


def ninja() -> str:
    """Path of Ninja, as the front end finds it."""
    return str(runner.find())


def sha256(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass
class Run:
    """How one Bazel command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def processes(self) -> int:
        """How many actions were run in a process of their own."""
        for line in self.stderr.splitlines():
            if line.startswith("INFO:") and ("processes:" in line or "process:" in line):
                parts = line.rstrip(".").split(": ", 2)[2].split(", ")
                counts = {kind: int(number) for number, kind in (p.split(" ", 1) for p in parts)}
                return sum(n for kind, n in counts.items() if kind not in ("internal",))
        raise AssertionError(f"Bazel does not say what it ran:\n{self.stderr}")

    def steps(self, step: str) -> list[str]:
        """Labels of the targets for which that step was run, sorted."""
        block = rf"^SUBCOMMAND: # (\S+) \[.*\n.*\n.*\n.*step\.py \S+packages {step} "
        return sorted(re.findall(block, self.stderr, re.M))


@dataclass
class Workspace:
    """A workspace and the server that works in it."""

    root: Path
    output_user_root: Path | None = None
    environ: dict[str, str] = field(default_factory=dict)

    def run(self, *argv: str, check: bool = True) -> Run:
        """Runs a Bazel command; on failure shows what it printed, unless ``check`` is false."""
        startup = ["--nohome_rc"]
        if self.output_user_root:
            startup += [f"--output_user_root={self.output_user_root}", "--max_idle_secs=60"]
        command, *rest = argv
        options = ["--config=offline", "--color=no", "--curses=no", "--noshow_progress"]
        if command in ("shutdown", "info"):
            options = []
        elif self.output_user_root:
            options += [f"--disk_cache={CACHE}", f"--modify_execution_info={_NO_CACHE}"]
        done = subprocess.run(
            [program(), *startup, command, *options, *rest],
            cwd=self.root,
            env=os.environ | {"FATCRATE_PYTHON": sys.executable} | self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        run = Run(done.returncode, done.stdout, done.stderr)
        assert not check or run.code == 0, f"bazel {' '.join(argv)}:\n{run.stdout}{run.stderr}"
        return run

    def build(self, *argv: str, check: bool = True) -> Run:
        """``bazel build``, showing the commands that it runs."""
        return self.run("build", "--subcommands", *argv, check=check)

    def output_base(self) -> Path:
        """The folder where the server keeps its files."""
        return Path(self.run("info", "output_base").stdout.strip())

    def close(self) -> None:
        """Ends the server, and removes what it wrote: Bazel leaves folders without w."""
        self.run("shutdown", check=False)
        if self.output_user_root:
            for folder, _, _ in os.walk(self.output_user_root):
                os.chmod(folder, 0o700)
            shutil.rmtree(self.output_user_root)

    def bin(self) -> Path:
        """The folder of the outputs of the last build."""
        return self.root / ".out" / "bin"

    def hashes(self) -> dict[str, str]:
        """SHA-256 of every output of a step, by path without the configuration."""
        found = {}
        for configuration in (self.root / ".out" / "out").iterdir():
            for path in sorted((configuration / "bin").rglob("*")):
                if path.is_file() and not path.is_symlink():
                    name = str(path.relative_to(configuration / "bin"))
                    found[name] = sha256(path)
        return found


def scratch(
    root: Path, user_root: Path, files: dict[str, str], checkout: Path = CHECKOUT
) -> Workspace:
    """A workspace in ``root`` that uses ``checkout`` as ``@fatcrate``."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "WORKSPACE").write_text(WORKSPACE.format(checkout=checkout))
    shutil.copy(CHECKOUT / ".bazelrc", root / ".bazelrc")
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Workspace(root, user_root)

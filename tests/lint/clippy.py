"""Lints the device library and the examples' crates with clippy, as the build compiles them.

Builds each example's crates with `fatcrate build`, asks Ninja for the commands, and runs each
compile command once more with clippy-driver in rustc's place. So clippy sees the flags, the
sysroot and the dependencies of the real build.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from fatcrate.rules import rustc
from fatcrate.toolchain.discover import discover

ROOT = Path(__file__).parent.parent.parent
CACHE = ROOT / ".cache" / "clippy"
LINTS = [
    "-Dwarnings",
    "-Dclippy::all",
    "-Dclippy::undocumented_unsafe_blocks",
    "-Dclippy::missing_safety_doc",
    "-Dunsafe_op_in_unsafe_fn",
    # Crates may repeat the features that the recipe turns on for all.
    "-Aclippy::duplicated_attributes",
]


def clippy_driver(compiler: str) -> str:
    """The clippy-driver that belongs to a rustc: it lies beside it."""
    path = Path(compiler).with_name("clippy-driver")
    if not path.exists():
        sys.exit(f"clippy: {path} is missing: apt-get install rust-web-clippy")
    return str(path)


def compile_commands(project: Path, out: Path) -> Iterator[list[str]]:
    """argv of rustc for each crate of a project, after building what they depend on."""
    fatcrate = [sys.executable, "-m", "fatcrate"]
    subprocess.run(
        [*fatcrate, "build", "-C", str(project), "--out", str(out), "--quiet"], check=True
    )
    listing = subprocess.run(
        ["ninja", "-C", str(out), "-t", "commands"], check=True, capture_output=True, text=True
    )
    for line in listing.stdout.splitlines():
        argv = shlex.split(line)
        if "compile" in argv and "--" in argv and "--crate-name" in argv:
            yield argv[argv.index("--") + 1 :]


def lint(argv: list[str], folder: Path, driver: str) -> bool:
    """Runs clippy on one crate; prints its findings."""
    name = argv[argv.index("--crate-name") + 1]
    print(f"clippy: {name}", flush=True)
    done = subprocess.run(
        [driver, *argv[1:], "--emit=metadata", "--out-dir", str(CACHE / "metadata"), *LINTS],
        cwd=folder,
        env={**os.environ, **rustc.ENVIRONMENT},
        check=False,
    )
    return done.returncode == 0


def main() -> int:
    """Lints every example; 1 when clippy finds something."""
    driver = clippy_driver(discover().rustc)
    (CACHE / "metadata").mkdir(parents=True, exist_ok=True)
    good = True
    seen: set[str] = set()
    for project in sorted(path.parent for path in ROOT.glob("examples/*/fatcrate.yaml")):
        out = CACHE / project.name
        for argv in compile_commands(project, out):
            if argv[-1] not in seen and "/vendor/" not in argv[-1]:
                seen.add(argv[-1])
                good = lint(argv, project, driver) and good
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())

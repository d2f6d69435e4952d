"""Projects that `fatcrate build` builds in tests, through the command itself."""

from __future__ import annotations

import hashlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fatcrate.rules.ninja import runner

FATCRATE = Path(sys.executable).with_name("fatcrate")

MATHLIB = """\
#![no_std]
// A comment.
pub fn axpy(a: f32, x: f32, y: f32) -> f32 {
    a * x + y
}
"""
UTIL = """\
#![no_std]
pub fn twice(a: f32) -> f32 {
    a + a
}
"""
KERNEL = """\
#![no_std]
mod place;

/// # Safety
/// `x` and `y` hold `n` floats.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn saxpy(n: u32, a: f32, x: *const f32, y: *mut f32) {
    let i = place::index();
    if i < n as usize {
        // SAFETY: `i < n`.
        unsafe { *y.add(i) = mathlib::axpy(a, *x.add(i), *y.add(i)) };
    }
}
"""
PLACE = """\
pub fn index() -> usize {
    gpu::global_x()
}
"""
OTHER = """\
#![no_std]
/// # Safety
/// `y` holds a float for each thread.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn double(y: *mut f32) {
    // SAFETY: see above.
    unsafe { *y.add(gpu::global_x()) = util::twice(*y.add(gpu::global_x())) };
}
"""
YAML = """\
version: 1
crates:
  mathlib: {path: mathlib.rs}
  util: {path: util.rs}
  kern: {path: kern, edition: 2024, deps: [gpu, mathlib]}
  other: {path: other.rs, edition: 2024, deps: [gpu, util]}
kernels:
  demo: {crates: [kern, other], archs: [sm_80, compute_90], host: [x86_64]}
"""

#: Two kernels in four crates; ``mathlib`` serves one, ``util`` the other.
FILES: dict[str, str] = {
    "fatcrate.yaml": YAML,
    "mathlib.rs": MATHLIB,
    "util.rs": UTIL,
    "kern/src/lib.rs": KERNEL,
    "kern/src/place.rs": PLACE,
    "other.rs": OTHER,
}


@dataclass
class Built:
    """How a `fatcrate build` ended. ``steps`` are those it ran, in words, sorted."""

    code: int
    stdout: str
    stderr: str
    steps: list[str] = field(default_factory=list)

    def ok(self) -> Built:
        assert self.code == 0, self.stderr
        return self

    def json(self) -> Any:
        return json.loads(self.stdout)


_STEP = re.compile(r"^\[\d+/\d+\] (.*)$", re.M)


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FATCRATE_")}
    return {**kept, **(extra or {})}


@dataclass
class Project:
    """A project's folder."""

    folder: Path

    @property
    def out(self) -> Path:
        return self.folder / "fatcrate-out"

    def write(self, files: Mapping[str, str]) -> Project:
        """Writes files; missing folders are made."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return self

    def edit(self, name: str, old: str, new: str) -> Project:
        """Replaces text that must be in the file."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        return self

    def start(
        self, *args: str, env: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.Popen[str]:
        """Starts `fatcrate build` and returns at once."""
        return subprocess.Popen(
            [FATCRATE, "build", *args],
            cwd=self.folder,
            env=_environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def build(self, *args: str, env: Mapping[str, str] | None = None, **options: Any) -> Built:
        """Runs `fatcrate build` to its end."""
        process = self.start(*args, env=env, **options)
        stdout, stderr = process.communicate(timeout=600)
        return Built(process.returncode, stdout, stderr, sorted(_STEP.findall(stderr)))

    def ninja(self, *args: str) -> str:
        """Runs plain Ninja in the output folder; its output."""
        done = subprocess.run(
            [runner.find(), *args], cwd=self.out, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def hashes(self, out: Path | None = None) -> dict[str, str]:
        """SHA-256 of every output; the front end's own files are left out."""
        base = out or self.out
        return {
            str(path.relative_to(base)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(base.rglob("*"))
            if path.is_file() and ".fatcrate" not in path.parts and path.name != "build.ninja"
        }

    def leftovers(self) -> list[str]:
        """Temporary files and folders below the project."""
        return [str(path) for path in self.folder.rglob("*.tmp")]


def wait_for(condition: Any, seconds: float = 60) -> None:
    """Returns as soon as ``condition()`` holds; fails when it never does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def first_line(process: subprocess.Popen[str]) -> str:
    """The first line that a build prints to stderr; fails when none comes within a minute."""
    assert process.stderr is not None
    ready, _, _ = select.select([process.stderr], [], [], 60)
    assert ready, "waited in vain"
    return process.stderr.readline()


def interrupt(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Sends SIGINT, as Ctrl-C does; (exit code, stdout, stderr)."""
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    return process.returncode, stdout, stderr

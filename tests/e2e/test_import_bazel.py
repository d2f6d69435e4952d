"""An imported Cargo project: Bazel makes the bytes that Ninja makes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.support import bazel

CASE = bazel.CHECKOUT / "tests" / "cases" / "cargo" / "project"


def test_bazel_builds_what_ninja_builds(tmp_path: Path) -> None:
    place = tmp_path / "project"
    shutil.copytree(CASE, place)
    manifest = place / "kern" / "Cargo.toml"
    device = bazel.CHECKOUT / "toolchain" / "device" / "gpu"
    manifest.write_text(manifest.read_text().replace("@GPU@", str(device)))
    workspace = bazel.scratch(place, tmp_path / "bazel", {})
    try:
        for argv in (["import", "--offline", "--bazel"], ["build"]):
            done = subprocess.run(bazel.fatcrate(*argv), cwd=place, capture_output=True)
            assert done.returncode == 0, done.stderr.decode()
        workspace.build("//:demo")
        for name in ("demo.fatbin", "demo.x86_64.o", "demo.h"):
            ours = place / "fatcrate-out" / name
            assert bazel.sha256(workspace.bin() / name) == bazel.sha256(ours), name
    finally:
        workspace.close()

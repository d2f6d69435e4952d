"""A build with an installed CUDA toolkit and without NVIDIA's Python packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from fatcrate.toolchain.discover import Tools
from support.ninja import FILES, Project

#: `fatcrate` on the packages of one folder alone.
RUN = """\
import sys
sys.path[:0] = sys.argv[1:3]
del sys.argv[1:3]
from fatcrate.__main__ import entry
entry()
"""


def test_a_toolkit_in_place_of_wheels(tools: Tools, tmp_path: Path, root: Path) -> None:
    """The same programs in a toolkit's layout make the same bytes."""
    with_wheels = Project(tmp_path / "wheels").write(FILES)
    with_wheels.build().ok()

    toolkit = tmp_path / "cuda-13.5"
    (toolkit / "bin").mkdir(parents=True)
    (toolkit / "nvvm/libdevice").mkdir(parents=True)
    shutil.copy2(tools.ptxas, toolkit / "bin")
    shutil.copy2(tools.libdevice, toolkit / "nvvm/libdevice")
    packages = tmp_path / "site-packages"
    packages.mkdir()
    installed = Path(tools.ptxas.partition("/nvidia/")[0])
    for entry in installed.iterdir():
        if not entry.name.startswith("nvidia"):
            (packages / entry.name).symlink_to(entry)

    def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-S", "-c", RUN, str(packages), str(root / "python")]
        return subprocess.run(
            [*argv, *words],
            cwd=with_wheels.folder,
            env={**os.environ, "XDG_CACHE_HOME": str(Path.home() / ".cache"), **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    alone = run("doctor", PATH="/usr/bin:/bin")
    assert alone.returncode == 3 and "error[FC0230]: ptxas: is not installed" in alone.stdout
    path = f"{toolkit}/bin{os.pathsep}{os.environ['PATH']}"
    for provenance, variables in (
        ("CUDA_HOME", {"CUDA_HOME": str(toolkit)}),
        ("PATH", {"PATH": path}),
    ):
        assert f"{provenance}: {toolkit}/bin/ptxas" in run("doctor", **variables).stdout
        out = tmp_path / provenance
        done = run("build", "--out", str(out), **variables)
        assert done.returncode == 0, done.stderr
        assert str(toolkit) in (out / "build.ninja").read_text()
        assert with_wheels.hashes(out) == with_wheels.hashes()

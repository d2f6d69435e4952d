"""The example's Python host: without a driver, without a device, and with a made-up GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fatcrate.fatbin import packer
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.arch import parse_one
from fatcrate.toolchain.discover import Tools
from support import images
from support.device import fatcrate


@pytest.fixture
def module(tmp_path: Path, tools: Tools) -> Path:
    """The Python module of a fat binary with a kernel of the example's signature."""
    image = packer.Input("ptx", parse_one("compute_80"), Source("k", data=images.ptx("80")))
    (tmp_path / "k.fatbin").write_bytes(packer.pack([image]))
    path = tmp_path / "saxpy_kernels.py"
    done = fatcrate("embed", tmp_path / "k.fatbin", "--symbol", "saxpy", "--python", path)
    assert done.code == 0
    return path


def _run(root: Path, module: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, root / "examples" / "saxpy" / "host.py", module],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_a_driver(root: Path, module: Path) -> None:
    if os.path.exists("/dev/nvidiactl"):
        pytest.skip("this machine has a GPU")
    done = _run(root, module)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("nothing was run: no CUDA driver is installed (libcuda.so.1)\n")


def test_with_a_driver(root: Path, module: Path, tools: Tools, tmp_path: Path) -> None:
    source = root / "tests" / "e2e" / "fake_cuda.c"
    library = tmp_path / "libcuda.so.1"
    subprocess.run([tools.host_linker, "-shared", "-fPIC", source, "-o", library], check=True)
    found = {"LD_LIBRARY_PATH": str(tmp_path)}
    assert "saxpy: 100003 elements are right\n" in _run(root, module, **found).stdout
    done = _run(root, module, **found, FAKE_CUDA_NO_GPU="1")
    assert done.returncode == 0 and done.stdout.endswith("nothing was run: no device\n")
    assert _run(root, module, **found, FAKE_CUDA_WRONG="1").returncode == 1
    assert "cuLaunchKernel failed" in _run(root, module, **found, FAKE_CUDA_FAULT="1").stderr

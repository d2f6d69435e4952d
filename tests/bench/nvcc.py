"""NVIDIA's compiler from its wheels, for comparisons. Not needed to build anything."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path


def _packages() -> list[Path]:
    spec = importlib.util.find_spec("nvidia")
    return [Path(p) for p in (spec.submodule_search_locations or [])] if spec else []


def find(name: str) -> Path:
    """A file of the wheels by its path below their common folder; ends the benchmark if absent."""
    for package in _packages():
        for found in sorted(package.glob(f"*/{name}")):
            return found
    raise SystemExit(f"bench: {name} is not in the installed NVIDIA wheels")


def environment(folder: Path) -> dict[str, str]:
    """Variables with which nvcc and nvlink find libNVVM where they look for it."""
    nvvm = folder / "nvvm"
    (nvvm / "lib64").mkdir(parents=True, exist_ok=True)
    library = nvvm / "lib64" / "libnvvm.so"
    if not library.exists():
        library.symlink_to(find("lib/libnvvm.so.4"))
    return {**os.environ, "NVVM_PATH": str(nvvm)}


def compile(folder: Path, source: str, output: str, options: Sequence[str]) -> None:
    """Runs nvcc in ``folder``; ends the benchmark when it fails."""
    command = [str(find("bin/nvcc")), f"-I{find('include')}", "-std=c++17", *options]
    command += [source, "-o", output]
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"bench: nvcc: {done.stdout}{done.stderr}")

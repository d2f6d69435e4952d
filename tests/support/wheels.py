"""NVIDIA's libraries from PyPI, downloaded once into a cache folder; never in the repository."""

from __future__ import annotations

import fcntl
import functools
import subprocess
import sys
import zipfile
from pathlib import Path

from elftools.elf.elffile import ELFFile

#: Beside the virtual environment, so that a clean checkout downloads them once.
CACHE = Path(sys.prefix) / "test-wheels"


@functools.cache
def wheel(package: str) -> Path:
    """The newest wheel of a package; downloads it when it is not there."""
    CACHE.mkdir(exist_ok=True)
    pattern = package.replace("-", "_") + "-[0-9]*.whl"
    with open(CACHE / f"{package}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = sorted(CACHE.glob(pattern))
        if not found:
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d"]
            subprocess.run([*command, str(CACHE), package], check=True, stdin=subprocess.DEVNULL)
            found = sorted(CACHE.glob(pattern))
    return found[-1]


@functools.cache
def libraries(package: str) -> list[Path]:
    """The shared objects of a wheel that have device code, unpacked."""
    archive_path = wheel(package)
    folder = CACHE / package
    with open(CACHE / f"{package}.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            with zipfile.ZipFile(archive_path) as archive:
                for name in archive.namelist():
                    if ".so" in name.rsplit("/", 1)[-1]:
                        archive.extract(name, folder)
            (folder / "done").touch()
    found = sorted(p for p in folder.rglob("*.so*") if p.is_file())
    return [path for path in found if _has_device_code(path)]


def _has_device_code(path: Path) -> bool:
    with open(path, "rb") as stream:
        return ELFFile(stream).get_section_by_name(".nv_fatbin") is not None

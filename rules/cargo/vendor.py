"""Sources of packages from registries and git, brought into the project's folder.

A build reads nothing outside of the project, so that it is the same on every machine. Sources
are unpacked from the archives in cargo's cache after these were checked against Cargo.lock,
into the layout of ``cargo vendor --versioned-dirs``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tarfile
import tomllib
from typing import NoReturn

from fatcrate.rules.cargo import errors
from fatcrate.rules.cargo.graph import Package
from fatcrate.toolchain.diagnostics import fail

#: cargo's own record of a vendored package: SHA-256 of each file and of the archive.
CHECKSUMS = ".cargo-checksum.json"


def checksums(lock: str) -> dict[tuple[str, str, str], str]:
    """(name, version, source) -> SHA-256 of the archive, from the text of Cargo.lock."""
    return {
        (entry["name"], entry["version"], entry.get("source", "")): entry["checksum"]
        for entry in tomllib.loads(lock).get("package", [])
        if "checksum" in entry
    }


def folder_name(package: Package) -> str:
    """Its folder below the vendor folder."""
    return f"{package.name}-{package.version}"


def bring(package: Package, checksum: str, folder: str) -> bool:
    """Makes ``folder`` hold the package's source; says whether anything had to be done.

    ``checksum`` is the archive's SHA-256, "" for a package that has none. Raises FC0155.
    """
    mark = checksum or package.source
    if _mark_of(folder) == mark:
        return False
    temporary = f"{folder}.{os.getpid()}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        if checksum and os.path.exists(_archive(package)):
            _unpack(package, checksum, temporary)
        else:  # from git, or from a local registry or folder, which cargo itself has checked
            ignored = shutil.ignore_patterns(".git", "target")
            shutil.copytree(package.folder, temporary, ignore=ignored)
        record = {"files": _digests(temporary), "package": mark}
        with open(os.path.join(temporary, CHECKSUMS), "w", encoding="utf-8") as stream:
            json.dump(record, stream)
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return True


def _mark_of(folder: str) -> str | None:
    """What the source in ``folder`` was made from; None when it is not there."""
    try:
        with open(os.path.join(folder, CHECKSUMS), encoding="utf-8") as stream:
            mark = json.load(stream)["package"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return mark if isinstance(mark, str) else None


def _archive(package: Package) -> str:
    """The archive in cargo's cache: `registry/src/R/N-V` is unpacked from `registry/cache/R`."""
    registry, name = os.path.split(package.folder)
    base, registry_name = os.path.split(registry)
    return os.path.join(os.path.dirname(base), "cache", registry_name, f"{name}.crate")


def _unpack(package: Package, checksum: str, folder: str) -> None:
    path = _archive(package)
    with open(path, "rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != checksum:
        _bad(package, f"its archive has SHA-256 {found}, Cargo.lock says {checksum}")
    top = folder_name(package)
    os.makedirs(folder)
    try:
        with tarfile.open(path, "r:gz") as archive:
            for member in archive:
                head, _, rest = member.name.partition("/")
                if head != top:
                    _bad(package, f"its archive holds '{member.name}', outside of '{top}'")
                if not rest or not (member.isfile() or member.isdir()):
                    continue
                member.name = rest
                archive.extract(member, folder, filter="data")
    except (tarfile.TarError, EOFError, OSError) as error:
        _bad(package, f"its archive cannot be unpacked: {error}")


def _digests(folder: str) -> dict[str, str]:
    found = {}
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            with open(path, "rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            found[os.path.relpath(path, folder)] = digest
    return found


def _bad(package: Package, message: str) -> NoReturn:
    fail(
        errors.BAD_SOURCE,
        str(package),
        message,
        remedy="remove that file and run `cargo fetch`",
    )

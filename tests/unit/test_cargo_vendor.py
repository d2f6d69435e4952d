"""Sources of packages: checked, unpacked, kept."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest
from fatcrate.rules.cargo import vendor
from fatcrate.rules.cargo.graph import Package
from fatcrate.toolchain.diagnostics import FatcrateError

LOCK = """\
version = 4

[[package]]
name = "demo"
version = "1.0.0"
source = "registry+https://example.org/index"
checksum = "abc"

[[package]]
name = "mine"
version = "0.1.0"
"""


def make(home: Path, files: dict[str, bytes], links: dict[str, str] | None = None) -> Package:
    """A package in a registry cache below ``home``; names as in the archive."""
    cache = home / "cache" / "registry"
    cache.mkdir(parents=True, exist_ok=True)
    with tarfile.open(cache / "demo-1.0.0.crate", "w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    folder = str(home / "src" / "registry" / "demo-1.0.0")
    return Package("id", "demo", "1.0.0", folder, "registry+https://example.org/index", {})


def checksum(home: Path) -> str:
    data = (home / "cache" / "registry" / "demo-1.0.0.crate").read_bytes()
    return hashlib.sha256(data).hexdigest()


def test_checksums_of_the_lock_file() -> None:
    assert vendor.checksums(LOCK) == {
        ("demo", "1.0.0", "registry+https://example.org/index"): "abc"
    }


def test_unpacks_once(tmp_path: Path) -> None:
    files = {"demo-1.0.0/src/lib.rs": b"#![no_std]\n", "demo-1.0.0/Cargo.toml": b"[package]\n"}
    package = make(tmp_path, files)
    place = tmp_path / "vendor" / "demo-1.0.0"
    place.parent.mkdir()
    assert vendor.bring(package, checksum(tmp_path), str(place))
    assert (place / "src" / "lib.rs").read_bytes() == b"#![no_std]\n"
    record = json.loads((place / ".cargo-checksum.json").read_text())
    assert record["package"] == checksum(tmp_path)
    assert record["files"]["src/lib.rs"] == hashlib.sha256(b"#![no_std]\n").hexdigest()
    assert not vendor.bring(package, checksum(tmp_path), str(place))
    assert [p.name for p in place.parent.iterdir()] == ["demo-1.0.0"]


def test_a_wrong_checksum_is_refused(tmp_path: Path) -> None:
    package = make(tmp_path, {"demo-1.0.0/a": b""})
    with pytest.raises(FatcrateError) as caught:
        vendor.bring(package, "0" * 64, str(tmp_path / "out"))
    assert str(caught.value) == (
        f"error[FC0155]: demo 1.0.0: its archive has SHA-256 {checksum(tmp_path)},"
        f" Cargo.lock says {'0' * 64}\n"
        "  help: remove that file and run `cargo fetch`"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["../evil", "demo-1.0.0/../../evil", "/etc/evil", "other/x"])
def test_entries_outside_of_the_package_are_refused(tmp_path: Path, name: str) -> None:
    home = tmp_path / "home"
    package = make(home, {"demo-1.0.0/a": b"", name: b"evil"})
    with pytest.raises(FatcrateError) as caught:
        vendor.bring(package, checksum(home), str(tmp_path / "out"))
    assert caught.value.diagnostics[0].kind.code == "FC0155"
    assert not list(tmp_path.rglob("*evil*"))
    assert not (tmp_path / "out").exists()


def test_links_are_left_out(tmp_path: Path) -> None:
    package = make(tmp_path, {"demo-1.0.0/a": b"1"}, {"demo-1.0.0/b": "/etc/passwd"})
    vendor.bring(package, checksum(tmp_path), str(tmp_path / "out"))
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [".cargo-checksum.json", "a"]


@pytest.mark.parametrize("data", [b"", b"not a gzip file", b"\x1f\x8b\x08\x00" + b"\0" * 50])
def test_broken_archives_are_refused(tmp_path: Path, data: bytes) -> None:
    package = make(tmp_path, {"demo-1.0.0/a": b"1"})
    (tmp_path / "cache" / "registry" / "demo-1.0.0.crate").write_bytes(data)
    with pytest.raises(FatcrateError) as caught:
        vendor.bring(package, checksum(tmp_path), str(tmp_path / "out"))
    assert "its archive cannot be unpacked" in str(caught.value)


def test_git_packages_are_copied(tmp_path: Path) -> None:
    source = tmp_path / "checkout"
    (source / ".git").mkdir(parents=True)
    (source / "lib.rs").write_text("#![no_std]")
    package = Package("id", "demo", "1.0.0", str(source), "git+https://example.org/r#1", {})
    assert vendor.bring(package, "", str(tmp_path / "out"))
    assert not (tmp_path / "out" / ".git").exists()
    assert not vendor.bring(package, "", str(tmp_path / "out"))
    moved = Package("id", "demo", "1.0.0", str(source), "git+https://example.org/r#2", {})
    assert vendor.bring(moved, "", str(tmp_path / "out"))

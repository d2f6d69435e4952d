"""Outputs are the old content or the new, never a part."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fatcrate.toolchain import atomic


def test_replaces_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "out"
    atomic.write_bytes(path, b"old")
    atomic.write_text(path, "neü")
    assert path.read_text(encoding="utf-8") == "neü"
    assert os.listdir(tmp_path) == ["out"]


def test_an_exception_keeps_the_old_content(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), atomic.atomic_output(path) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]


def test_a_full_disk_keeps_the_old_content(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk."""
    path = tmp_path / "out"
    path.write_bytes(b"old")
    code = (
        "import resource, signal, sys\n"
        "from fatcrate.toolchain import atomic\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n"
        "    atomic.write_bytes(sys.argv[1], bytes(100_000))\n"
        "except OSError as error:\n"
        "    print(error.errno, error.filename)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(errno.EFBIG), str(path)]
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "no" / "out"
    with pytest.raises(FileNotFoundError) as caught:
        atomic.write_bytes(path, b"")
    assert caught.value.filename == str(path)


def test_equal_content_keeps_its_time_stamp(tmp_path: Path) -> None:
    path = tmp_path / "out"
    assert atomic.write_if_changed(path, b"a")
    os.utime(path, ns=(1, 1))
    assert not atomic.write_if_changed(path, b"a")
    assert path.stat().st_mtime_ns == 1
    assert atomic.write_if_changed(path, b"b")
    assert path.read_bytes() == b"b"


def test_a_bare_file_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    atomic.write_bytes("out", b"x")
    assert os.listdir(tmp_path) == ["out"]


def test_a_link_stays_and_leads_to_what_was_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/out")
    atomic.write_bytes(tmp_path / "link", b"one")  # leads nowhere yet
    assert (tmp_path / "there/out").read_bytes() == b"one"
    atomic.write_bytes(tmp_path / "link", b"two")
    assert os.readlink(tmp_path / "link") == "there/out"
    assert (tmp_path / "there/out").read_bytes() == b"two"
    assert sorted(os.listdir(tmp_path / "there")) == ["out"]


def test_a_pipe_gets_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    data = bytes(range(256)) * 100  # fits into the pipes
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as reader:
        atomic.write_bytes(path, data)
        assert reader.stdout is not None
        assert reader.stdout.read() == data
    assert path.is_fifo() and os.listdir(tmp_path) == ["pipe"]


def test_a_pipe_gets_nothing_of_what_failed(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(KeyboardInterrupt), atomic.atomic_output(path) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert path.is_fifo() and os.listdir(tmp_path) == ["pipe"]


@pytest.mark.parametrize("through", ["pipe", "file"])
def test_standard_output(tmp_path: Path, through: str) -> None:
    code = "from fatcrate.toolchain import atomic; atomic.write_bytes('/dev/stdout', b'x' * 9)"
    told = tmp_path / "told"
    with told.open("wb") as file:
        stdout = subprocess.PIPE if through == "pipe" else file
        done = subprocess.run([sys.executable, "-c", code], check=True, stdout=stdout)
    assert (done.stdout if through == "pipe" else told.read_bytes()) == b"x" * 9


def test_a_device_stays_a_device() -> None:
    before = os.stat("/dev/null")
    atomic.write_bytes("/dev/null", b"x")
    assert os.stat("/dev/null").st_rdev == before.st_rdev
    with pytest.raises(OSError, match="/dev/full") as caught:
        atomic.write_bytes("/dev/full", b"x")
    assert caught.value.errno == errno.ENOSPC

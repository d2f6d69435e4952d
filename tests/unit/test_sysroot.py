"""`fatcrate sysroot`: installing, waiting, failing; with a program that plays rustc."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fatcrate.rules import sysroot
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.discover import Tools

FATCRATE = Path(sys.executable).with_name("fatcrate")

#: Writes its own command line as the rlib; counts its runs; is slow.
PLAYER = """\
#!/bin/sh
for word; do case "$word" in --emit=link=*) out=${word#--emit=link=};; esac; done
echo run >> "$(dirname "$0")/runs"
sleep 0.05
echo "$@" | sed "s,[^ ]*/lib/rustlib,LIB,g; s,--sysroot=[^ ]*,,; s,$(dirname "$0"),HERE,g" > "$out"
"""

NAMES = [f"lib{part.name}.rlib" for part in sysroot.PARTS]


@pytest.fixture
def rustc(tmp_path: Path) -> str:
    path = tmp_path / "rustc"
    path.write_text(PLAYER, encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def runs(tmp_path: Path) -> int:
    return len((tmp_path / "runs").read_text().splitlines())


def library(directory: Path) -> Path:
    return Path(sysroot.library_folder(str(directory)))


def test_builds_once(tmp_path: Path, rustc: str, capfd: pytest.CaptureFixture[str]) -> None:
    made = tmp_path / "cache/sr"
    assert sysroot.build(rustc, "/src", "abort", "k", str(made))
    assert sorted(path.name for path in library(made).iterdir()) == sorted(NAMES)
    assert capfd.readouterr().err == (
        "sysroot: compiling core for panic=abort (1 of 3)\n"
        "sysroot: compiling compiler_builtins for panic=abort (2 of 3)\n"
        "sysroot: compiling alloc for panic=abort (3 of 3)\n"
    )
    assert not sysroot.build(rustc, "/src", "abort", "k", str(made))
    assert runs(tmp_path) == 3
    assert sysroot.build(rustc, "/src", "abort", "another", str(made))
    assert list((tmp_path / "cache").glob("*.tmp")) == []


def test_flags(tmp_path: Path, rustc: str) -> None:
    """No optimisation by LLVM, whose order varies; the sources' place is replaced."""
    sysroot.build(rustc, "/where/ever", "immediate-abort", "k", str(tmp_path / "sr"))
    line = (library(tmp_path / "sr") / "libcompiler_builtins.rlib").read_text()
    assert "-Cno-prepopulate-passes" in line and "-Ccodegen-units=1" in line
    assert "--remap-path-prefix=/where/ever=/rustc/library" in line
    assert '--cfg=feature="mem"' in line
    assert "-Cpanic=immediate-abort" in line


def test_folders_that_the_build_system_made_give_way(tmp_path: Path, rustc: str) -> None:
    made = tmp_path / "sr"
    library(made).mkdir(parents=True)
    assert sysroot.build(rustc, "/src", "abort", "k", str(made))
    assert sysroot.is_complete(str(made), "k")
    # Something else in it stays.
    (made / "note").write_text("mine")
    (library(made) / NAMES[0]).unlink()
    assert sysroot.build(rustc, "/src", "abort", "k", str(made))
    assert (made / "note").exists()
    assert sysroot.is_complete(str(made), "k")


def test_two_at_once_build_one(tmp_path: Path, rustc: str) -> None:
    made = str(tmp_path / "sr")
    built: list[bool] = []

    def one() -> None:
        built.append(sysroot.build(rustc, "/src", "abort", "k", made))

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(built) == [False, False, False, True]
    assert runs(tmp_path) == 3


def test_sources_that_do_not_compile(tmp_path: Path) -> None:
    rustc = tmp_path / "rustc"
    rustc.write_text("#!/bin/sh\nexit 1\n")
    rustc.chmod(0o755)
    with pytest.raises(FatcrateError) as caught:
        sysroot.build(str(rustc), "/src", "abort", "k", str(tmp_path / "sr"))
    assert str(caught.value) == (
        "error[FC0106]: core: does not compile from /src\n"
        "  help: use the sources that belong to this rustc; `fatcrate doctor` shows both"
    )
    assert not (tmp_path / "sr").exists()
    assert list(tmp_path.glob("*.tmp")) == []


def test_a_folder_that_cannot_be_written(tmp_path: Path, rustc: str) -> None:
    (tmp_path / "cache").write_text("")
    with pytest.raises(FatcrateError) as caught:
        sysroot.build(rustc, "/src", "abort", "k", str(tmp_path / "cache/sr"))
    assert str(caught.value) == (
        f"error[FC0129]: {tmp_path}/cache: core and alloc for the GPU cannot be kept there: File"
        " exists\n"
        "  help: free some disk space there, or set XDG_CACHE_HOME to a folder that can be written"
    )
    assert caught.value.exit_code == 3


def test_a_full_disk_while_rustc_writes(tmp_path: Path) -> None:
    rustc = tmp_path / "rustc"
    rustc.write_text("#!/bin/sh\necho 'error: No space left on device (os error 28)' >&2\nexit 1\n")
    rustc.chmod(0o755)
    with pytest.raises(FatcrateError) as caught:
        sysroot.build(str(rustc), "/src", "abort", "k", str(tmp_path / "cache/sr"))
    assert str(caught.value).startswith(
        f"error[FC0129]: {tmp_path}/cache: core and alloc for the GPU cannot be kept there: No"
        " space left on device\n"
    )
    assert list((tmp_path / "cache").glob("*.tmp")) == []


def test_key_follows_what_goes_in(tools: Tools) -> None:
    identity = tools.identity
    key = sysroot.cache_key(identity, "abort")
    other_rustc = identity.rustc._replace(sha256="0")
    other_ptxas = identity.ptxas._replace(sha256="0")
    assert key == sysroot.cache_key(identity._replace(ptxas=other_ptxas), "abort")
    assert key != sysroot.cache_key(identity._replace(rustc=other_rustc), "abort")
    assert key != sysroot.cache_key(identity, "immediate-abort")


def test_command(tmp_path: Path, rustc: str, tools: Tools) -> None:
    (tmp_path / "toolchain.json").write_text(tools.identity.to_json())
    words = ["--rustc", rustc, "--src", "/src/", "--toolchain", "toolchain.json"]
    done = subprocess.run(
        [FATCRATE, "sysroot", *words, "--output", "sr/"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    key = sysroot.cache_key(tools.identity, "immediate-abort")
    assert sysroot.is_complete(str(tmp_path / "sr"), key)

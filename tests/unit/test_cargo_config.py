"""Keys of Cargo's configuration files that an import does not take over are warned of."""

from __future__ import annotations

from pathlib import Path

import pytest
from fatcrate.rules.cargo import config
from fatcrate.rules.cargo.invoke import Cargo
from fatcrate.toolchain.diagnostics import FatcrateError

FLAGS = """\
[build]
target = "nvptx64-nvidia-cuda"
rustflags = ["--cfg", "special"]
[target.nvptx64-nvidia-cuda]
rustflags = ["-Ctarget-cpu=sm_80"]
linker = "lld"
[source.crates-io]
replace-with = "mirror"
"""


def told(folder: Path, **environ: str) -> list[tuple[str, str]]:
    found = config.ignored(str(folder / "Cargo.toml"), environ)
    assert all(d.severity == "warning" and d.remedy for d in found)
    return [(Path(d.subject).resolve().as_posix(), d.message.split("`")[1]) for d in found]


def test_folders_above_and_the_users_own(tmp_path: Path) -> None:
    inner = tmp_path / "a/b"
    for folder in (inner, tmp_path / "a", tmp_path / "home"):
        (folder / ".cargo").mkdir(parents=True)
    own, outer = inner / ".cargo/config.toml", tmp_path / "a/.cargo/config"
    user = tmp_path / "home/.cargo/config.toml"
    own.write_text(FLAGS, encoding="utf-8")
    outer.write_text("[env]\nX = '1'\n", encoding="utf-8")
    outer.with_name("config.toml").write_text(FLAGS, encoding="utf-8")  # the other one counts
    user.write_text("[build]\njobs = 3\nrustflags = []\n", encoding="utf-8")
    keys = ["build.rustflags", "target.nvptx64-nvidia-cuda.rustflags"]
    wanted = [*((str(own), key) for key in keys), (str(outer), "env")]
    assert told(inner, HOME=str(tmp_path / "home")) == wanted
    user.write_text("[env]\nY = '1'\n", encoding="utf-8")
    assert told(inner, HOME=str(tmp_path / "home"))[-1] == (str(user), "env")
    assert told(inner, CARGO_HOME=str(user.parent), HOME="/nowhere")[-1] == (str(user), "env")
    # A project below the user's own folder sees the file once.
    assert told(tmp_path / "home", HOME=str(tmp_path / "home")) == [(str(user), "env")]


def test_files_that_cargo_refuses_itself(tmp_path: Path) -> None:
    (tmp_path / ".cargo").mkdir()
    for text in ("build = 3\n", "target = []\n", "= broken", "\0"):
        (tmp_path / ".cargo/config.toml").write_text(text, encoding="utf-8")
        assert told(tmp_path) == []


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("error: invalid version 0 on git_proxy_options; class=Invalid (3)", "FATCRATE_CARGO"),
        ("error: the lock file needs to be updated but --locked was passed", "cargo update"),
        ("error: attempting to make an HTTP request, but --offline was specified", "cargo fetch"),
    ],
)
def test_remedies_of_what_cargo_says(tmp_path: Path, said: str, remedy: str) -> None:
    cargo = tmp_path / "cargo"
    cargo.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 101\n", encoding="utf-8")
    cargo.chmod(0o755)
    with pytest.raises(FatcrateError) as caught:
        Cargo(str(cargo), "rustc", str(tmp_path / "Cargo.toml"), ()).metadata()
    (fault,) = caught.value.diagnostics
    assert fault.kind.code == "FC0151" and remedy in fault.remedy
    assert said.removeprefix("error: ") in fault.message

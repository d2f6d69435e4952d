"""A toolchain as `rustup target add nvptx64-nvidia-cuda` leaves it: no sources, prebuilt rlibs.

The rlibs are our own sysroot's, under names as rustup's have them; rustc is the installed one
behind a script that gives it this sysroot.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fatcrate.rules import sysroot
from fatcrate.toolchain import names
from fatcrate.toolchain.discover import Tools, discover
from fatcrate.toolchain.locate import Request

_RUSTC = """\
#!/bin/sh
case "$1" in
-vV) exec {rustc} -vV ;;
--print) [ "$2" = sysroot ] && {{ echo {home}; exit; }} ;;
esac
case " $* " in
*" --sysroot "*) exec {rustc} "$@" ;;
*" --target nvptx64-nvidia-cuda "*) exec {rustc} --sysroot {home} "$@" ;;
esac
exec {rustc} "$@"
"""

_KERNEL = """\
#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn count(n: u32, y: *mut u32) {
    let i = gpu::global_x();
    if i < n as usize {
        unsafe { *y.add(i) = [1, 2, 3][i % 3] };
    }
}
"""


@pytest.fixture
def rustup(tmp_path: Path, tools: Tools) -> Path:
    """RUSTUP_HOME with one toolchain."""
    made = tmp_path / "sysroot"
    identity = tmp_path / "toolchain.json"
    identity.write_text(tools.identity.to_json(), encoding="utf-8")
    panic = names.PANIC_STRATEGIES[0]
    cached = Path.home() / ".cache/fatcrate/sysroot" / sysroot.cache_key(tools.identity, panic)
    argv = ["--rustc", tools.rustc, "--src", tools.rust_src, "--toolchain", str(identity)]
    made = cached if cached.exists() else made
    subprocess.run(
        [sys.executable, "-m", "fatcrate", "sysroot", *argv, "--panic", panic, "--output", made],
        check=True,
        capture_output=True,
    )
    home = tmp_path / "rustup/toolchains/stable"
    target = home / "lib/rustlib" / names.NVPTX_TRIPLE / "lib"
    target.mkdir(parents=True)
    for crate in names.SYSROOT_CRATES:
        (rlib,) = made.rglob(f"lib{crate}.rlib")
        shutil.copy(rlib, target / f"lib{crate}-0123456789abcdef.rlib")
    (home / "bin").mkdir()
    script = home / "bin/rustc"
    script.write_text(_RUSTC.format(rustc=tools.rustc, home=home), encoding="utf-8")
    script.chmod(0o755)
    return home


def test_build_with_a_prebuilt_target(tmp_path: Path, rustup: Path) -> None:
    environ = {**os.environ, "FATCRATE_RUSTC": str(rustup / "bin/rustc")}
    found = discover(Request.from_environment(environ), environ={})
    assert (found.rust_src, found.identity.rust_src.kind) == ("", "prebuilt")
    project = tmp_path / "project"
    project.mkdir()
    (project / "k.rs").write_text(_KERNEL, encoding="utf-8")
    (project / "fatcrate.yaml").write_text(
        "version: 1\ncrates: {k: {path: k.rs, edition: 2024, deps: [gpu]}}\n"
        "kernels: {demo: {crates: [k], archs: [sm_90]}}\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "fatcrate", "build", "--verbose"],
        cwd=project,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "fatcrate sysroot" not in done.stdout + done.stderr
    assert (project / "fatcrate-out/demo/sm_90.cubin").exists()

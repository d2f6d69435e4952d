"""``cargo build --target nvptx64-nvidia-cuda`` with ``fatcrate-ld`` as the linker."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from fatcrate.toolchain.discover import Tools
from support.device import build_sysroot

CONFIG = """
[build]
target = "nvptx64-nvidia-cuda"
[target.nvptx64-nvidia-cuda]
linker = "{linker}"
rustflags = ["--sysroot={sysroot}", "-Clink-arg=--manifest=demo.json"{more}]
"""
LIBRARY = """
#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn from_library(x: *mut u32) { unsafe { *x = helper(*x) } }
#[inline(never)]
pub fn helper(x: u32) -> u32 { x.rotate_left(3) }
"""
TOP = """
#![no_std]
#![feature(abi_gpu_kernel)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
#[unsafe(no_mangle)]
pub extern "C" fn hook(x: u32) -> u32 { x + 1 }
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn top(x: *mut u32, n: usize, i: usize) {
    let s = unsafe { core::slice::from_raw_parts_mut(x, n) };
    s[i] = library::helper(s[0]);
}
"""


@pytest.fixture
def project(tools: Tools, tmp_path: Path) -> Path:
    """A workspace of a library and a cdylib."""
    if not tools.cargo:
        pytest.skip("cargo is not installed")
    for name, kind, source, deps in (
        (
            "library",
            "lib",
            LIBRARY.replace("#![no_std]", "#![no_std]\n#![feature(abi_gpu_kernel)]"),
            "",
        ),
        ("demo", "cdylib", TOP, 'library = { path = "../library" }'),
    ):
        (tmp_path / name / "src").mkdir(parents=True)
        (tmp_path / name / "src" / "lib.rs").write_text(source)
        (tmp_path / name / "Cargo.toml").write_text(
            f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2024"\n'
            f'[lib]\ncrate-type = ["{kind}"]\n[dependencies]\n{deps}\n'
        )
    linker = tmp_path / "fatcrate-ld"
    python = shlex.quote(sys.executable)
    linker.write_text(
        f"#!/bin/sh\nexec {python} -c 'from fatcrate.lto.ld import entry; entry()' \"$@\"\n"
    )
    linker.chmod(0o755)
    (tmp_path / "demo" / ".cargo").mkdir()
    return tmp_path


def cargo(
    tools: Tools, project: Path, more: str, *options: str
) -> subprocess.CompletedProcess[str]:
    sysroot = build_sysroot(tools, "abort")
    config = CONFIG.format(linker=project / "fatcrate-ld", sysroot=sysroot, more=more)
    (project / "demo" / ".cargo" / "config.toml").write_text(config)
    environment = {**os.environ, "RUSTC": tools.rustc, "RUSTC_BOOTSTRAP": "1"}
    return subprocess.run(
        [tools.cargo, "build", "--offline", *options],
        cwd=project / "demo",
        env=environment,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("profile", ["debug", "release"])
def test_cargo_build(tools: Tools, project: Path, profile: str) -> None:
    options = ["--release"] if profile == "release" else []
    done = cargo(tools, project, ', "-Ctarget-cpu=sm_80"', *options)
    assert done.returncode == 0, done.stderr
    folder = project / "demo" / "target" / "nvptx64-nvidia-cuda" / profile
    ptx = (folder / "demo.ptx").read_text()
    assert ".target sm_80" in ptx
    assert ".entry top(" in ptx and ".entry from_library(" in ptx
    assert ".visible .func" in ptx and " hook(" in ptx
    manifest = json.loads((project / "demo" / "demo.json").read_text())
    assert [k["name"] for k in manifest["kernels"]] == ["from_library", "top"]
    cubin = project / "demo.cubin"
    subprocess.run([tools.ptxas, "-arch=sm_80", folder / "demo.ptx", "-o", cubin], check=True)


def test_the_default_cpu_is_refused_with_the_remedy(tools: Tools, project: Path) -> None:
    done = cargo(tools, project, "")
    assert done.returncode != 0
    assert "error[FC0340]: --target-cpu: sm_30 is what rustc gives by default" in done.stderr
    assert "-Ctarget-cpu=sm_80" in done.stderr

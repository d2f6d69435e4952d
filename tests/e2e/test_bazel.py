"""Builds with Bazel: what is rebuilt, what is refused, and what a host program can do.

The workspace is a user's: it names this checkout as ``@fatcrate``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from fatcrate.toolchain.discover import Tools, discover
from support import bazel, cuobjdump
from support.bazel import Workspace

BUILD = """\
load("@fatcrate//rules:defs.bzl", "gpu_kernels", "gpu_rust_library")

gpu_rust_library(name = "low", srcs = ["low.rs"])
gpu_rust_library(name = "side", srcs = ["side.rs"])
gpu_rust_library(name = "high", srcs = ["high.rs"], edition = "2024", deps = [":low", ":side"])
gpu_kernels(name = "demo", crates = [":high"], archs = ["sm_80", "sm_90"])
cc_binary(name = "host", srcs = ["host.cc"], deps = [":demo"])
"""

FILES = {
    "BUILD": BUILD,
    "low.rs": "#![no_std]\npub fn add(x: u32) -> u32 { x + 1 }\n",
    "side.rs": "#![no_std]\npub fn double(x: u32) -> u32 { x * 2 }\n",
    "high.rs": """\
#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn run(to: *mut u32) {
    unsafe { *to = low::add(side::double(*to)) }
}
""",
    "host.cc": """\
#include <cstdio>
#include "demo.h"
int main() { std::printf("%zu bytes, kernel %s\\n", demo_size(), demo_kernels()[0]); }
""",
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    base = tmp_path_factory.mktemp("workspace")
    made = bazel.scratch(base / "w", base / "bazel", FILES)
    yield made
    made.close()


@pytest.fixture
def workspace(shared: Workspace) -> Workspace:
    """The workspace with its first content."""
    for path in shared.root.iterdir():
        if path.is_file() and path.name not in (*FILES, "WORKSPACE", ".bazelrc"):
            path.unlink()
    for name, text in FILES.items():
        path = shared.root / name
        if path.read_text() != text:
            path.write_text(text)
    shared.environ.clear()
    return shared


def images(path: Path) -> list[str]:
    """What NVIDIA's cuobjdump finds in a file."""
    return cuobjdump.listed_files(Path(discover().cuobjdump), path)


def edit(workspace: Workspace, name: str, old: str, new: str) -> None:
    path = workspace.root / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


# What is rebuilt.


def test_a_second_build_does_nothing(workspace: Workspace) -> None:
    workspace.build("//...")
    again = workspace.build("//...")
    assert again.processes == 0


def test_an_edit_rebuilds_the_dependents_alone(workspace: Workspace) -> None:
    workspace.build("//:demo")
    edit(workspace, "low.rs", "x + 1", "x + 3")
    assert workspace.build("//:demo").steps("compile") == ["//:high", "//:low"]
    edit(workspace, "high.rs", "#![no_std]", "#![no_std]\n// A remark.")
    remark = workspace.build("//:demo")
    assert remark.steps("compile") == ["//:high"]


def test_an_arch_more_compiles_no_crate(workspace: Workspace) -> None:
    workspace.build("//:demo")
    before = workspace.hashes()
    edit(workspace, "BUILD", '"sm_90"]', '"sm_90", "sm_120", "compute_120"]')
    built = workspace.build("//:demo")
    assert not built.steps("compile")
    assert not built.steps("link")
    assert len(built.steps("codegen")) == 2
    assert len(built.steps("assemble")) == 1
    after = workspace.hashes()
    assert after["demo/sm_80.cubin"] == before["demo/sm_80.cubin"]
    assert images(workspace.bin() / "demo.fatbin") == [
        *("ELF sm_120", "ELF sm_80", "ELF sm_90"),
        "PTX sm_120",
    ]


def test_settings_and_modes_compile_no_crate_again(workspace: Workspace) -> None:
    workspace.build("//:demo")
    setting = workspace.build("//:demo", "--@fatcrate//rules:archs=sm_75")
    assert not setting.steps("compile")
    assert images(workspace.bin() / "demo.fatbin") == ["ELF sm_75"]
    for options in (["-c", "opt"], ["--@fatcrate//rules:compress=none"], []):
        built = workspace.build("//:demo", *options)
        assert not built.steps("compile")
        assert not built.steps("sysroot")
    assert images(workspace.bin() / "demo.fatbin") == ["ELF sm_80", "ELF sm_90"]


@pytest.mark.parametrize(
    ("old", "new", "compiled"),
    [
        ('"low.rs"]', '"low.rs"], opt_level = "1"', ["//:high", "//:low"]),
        ('"low.rs"]', '"low.rs"], cfgs = ["x"]', ["//:high", "//:low"]),
        ('"high.rs"]', '"high.rs"], debug = "line-directives-only"', ["//:high"]),
        ('"high.rs"]', '"high.rs"], rustc_flags = ["-Cno-vectorize-slp"]', ["//:high"]),
        ('"sm_90"]', '"sm_90"], ptxas_options = ["-O1"]', []),
        ('"sm_90"]', '"sm_90"], opt_level = "0"', []),
    ],
)
def test_flags(workspace: Workspace, old: str, new: str, compiled: list[str]) -> None:
    """A changed flag is seen, and taking it back gives the first bytes."""
    workspace.build("//:demo")
    before = workspace.hashes()
    edit(workspace, "BUILD", old, new)
    built = workspace.build("//:demo")
    assert built.steps("compile") == compiled
    assert built.processes > 0
    edit(workspace, "BUILD", new, old)
    workspace.build("//:demo")
    assert workspace.hashes() == before


def test_a_changed_tool_is_noticed_while_the_server_runs(
    workspace: Workspace, tools: Tools, tmp_path: Path
) -> None:
    ptxas = tmp_path / "ptxas"
    shutil.copy(tools.ptxas, ptxas)
    workspace.environ["FATCRATE_PTXAS"] = str(ptxas)
    workspace.build("//:demo")
    identity = workspace.output_base() / "external/fatcrate_tools/toolchain.json"
    before = identity.read_text()
    assert workspace.build("//:demo").processes == 0
    with ptxas.open("ab") as stream:
        stream.write(b"\0")
    again = workspace.build("//:demo")
    assert len(again.steps("assemble")) == 2
    assert not again.steps("sysroot")
    assert identity.read_text() != before


# What is refused.


def test_a_missing_tool_is_told_with_its_remedy(workspace: Workspace) -> None:
    workspace.environ["FATCRATE_PTXAS"] = "/does/not/exist"
    failed = workspace.build("//:demo", check=False)
    assert failed.code == 1
    assert "no matching toolchains found for types @fatcrate//toolchain:toolchain_type" in (
        failed.stderr
    )
    assert "FATCRATE_PTXAS names /does/not/exist, which is not a file" in failed.stderr
    assert "`fatcrate doctor` lists each tool and the command that gets it" in failed.stderr


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        (
            "high.rs",
            "low::add(",
            "low::add(1, ",
            "error[E0061]: this function takes 1 argument but 2 arguments were supplied\n"
            " --> high.rs:4:20\n",
        ),
        ("BUILD", '":low", ', "", "use of unresolved module or unlinked crate `low`"),
        (
            "BUILD",
            '[":low", ',
            '[":lo", ',
            "deps attribute of gpu_rust_library rule //:high: rule '//:lo' does not exist",
        ),
        ("BUILD", '":high"]', '":low"]', "error[FC0313]: demo: no linked crate defines a kernel"),
        (
            "side.rs",
            "#![no_std]\n",
            '#![no_std]\n#[unsafe(no_mangle)] pub extern "gpu-kernel" fn run() {}\n',
            "error[FC0312]: run: kernel is defined by the crates high and side",
        ),
        (
            "low.rs",
            "{ x + 1 }",
            '{ unsafe extern "C" { fn nowhere(x: u32) -> u32; } unsafe { nowhere(x) } }',
            "error[FC0310]: nowhere: ",
        ),
        ("BUILD", '"sm_90"', '"sm_85"', "sm_85: the toolchain does not know it; nearest: sm_80"),
    ],
)
def test_bad_input(workspace: Workspace, name: str, old: str, new: str, expected: str) -> None:
    workspace.build("//:demo")
    edit(workspace, name, old, new)
    failed = workspace.build("//:demo", check=False)
    assert failed.code == 1
    assert expected in failed.stderr
    assert "Traceback (most recent call last):\n  File" not in failed.stderr


# What a user can do with it.


def test_a_cc_binary_links_the_kernels(workspace: Workspace) -> None:
    workspace.build("//:host")
    host = workspace.bin() / "host"
    told = subprocess.run([host], capture_output=True, text=True, check=True).stdout
    size = (workspace.bin() / "demo.fatbin").stat().st_size
    assert told == f"{size} bytes, kernel run\n"
    assert images(host) == ["ELF sm_80", "ELF sm_90"]


def test_a_cc_library_and_a_shared_object_carry_them_too(workspace: Workspace) -> None:
    with (workspace.root / "BUILD").open("a") as stream:
        stream.write(
            'cc_library(name = "wrapper", srcs = ["wrapper.cc"], deps = [":demo"])\n'
            'cc_binary(name = "through", srcs = ["through.cc"], deps = [":wrapper"])\n'
            'cc_binary(name = "libdemo.so", linkshared = True, deps = [":demo"])\n'
            'cc_test(name = "dynamic_test", srcs = ["through.cc"], deps = [":wrapper"])\n'
        )
    (workspace.root / "wrapper.cc").write_text(
        '#include "demo.h"\nextern "C" unsigned long size() { return demo_size(); }\n'
    )
    (workspace.root / "through.cc").write_text(
        'extern "C" unsigned long size();\nint main() { return size() > 0 ? 0 : 1; }\n'
    )
    workspace.build("//...")
    subprocess.run([workspace.bin() / "through"], check=True)
    workspace.run("test", "//:dynamic_test")
    for name in ("through", "libdemo.so", "dynamic_test"):
        assert images(workspace.bin() / name) == ["ELF sm_80", "ELF sm_90"]


CROSS = """\
load("@bazel_tools//tools/cpp:unix_cc_toolchain_config.bzl", "cc_toolchain_config")

package(default_visibility = ["//visibility:public"])

TOOLS = ["ar", "cpp", "dwp", "gcc", "gcov", "ld", "llvm-cov", "nm", "objcopy", "objdump", "strip"]

filegroup(name = "none")

cc_toolchain_suite(name = "suite", toolchains = {"aarch64": ":toolchain"})

cc_toolchain(
    name = "toolchain",
    all_files = ":none",
    compiler_files = ":none",
    dwp_files = ":none",
    linker_files = ":none",
    objcopy_files = ":none",
    strip_files = ":none",
    toolchain_config = ":config",
)

cc_toolchain_config(
    name = "config",
    abi_libc_version = "glibc",
    abi_version = "gcc",
    compiler = "gcc",
    cpu = "aarch64",
    cxx_builtin_include_directories = ["/usr"],
    host_system_name = "local",
    target_libc = "glibc",
    target_system_name = "aarch64-linux-gnu",
    tool_paths = {tool: "GCC-" + tool for tool in TOOLS},
    toolchain_identifier = "aarch64",
)
"""


def test_another_cpu_gets_its_own_object(workspace: Workspace) -> None:
    """No crate is compiled again for it."""
    gcc = shutil.which("aarch64-linux-gnu-gcc")
    assert gcc, "this test cross-compiles: apt-get install gcc-aarch64-linux-gnu qemu-user"
    (workspace.root / "cross").mkdir(exist_ok=True)
    (workspace.root / "cross/BUILD").write_text(CROSS.replace("GCC", gcc.removesuffix("-gcc")))
    with (workspace.root / "BUILD").open("a") as stream:
        stream.write('cc_binary(name = "chost", srcs = ["host.c"], deps = [":demo"])\n')
    (workspace.root / "host.c").write_text(
        FILES["host.cc"].replace("<cstdio>", "<stdio.h>").replace("std::", "")
    )
    workspace.build("//:chost")
    built = workspace.build(
        "//:chost",
        "--cpu=aarch64",
        "--crosstool_top=//cross:suite",
        "--host_crosstool_top=@bazel_tools//tools/cpp:toolchain",
    )
    assert not built.steps("compile")
    assert not built.steps("sysroot")
    assert (workspace.bin() / "demo.aarch64.o").exists()
    told = subprocess.run(
        ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", workspace.bin() / "chost"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.endswith(" bytes, kernel run\n")
    assert images(workspace.bin() / "chost") == ["ELF sm_80", "ELF sm_90"]


def test_generated_sources_and_data(workspace: Workspace) -> None:
    """A module that a genrule makes stands beside one that is checked in."""
    edit(
        workspace,
        "BUILD",
        'srcs = ["low.rs"]',
        'srcs = ["low.rs", ":made"], crate_root = "low.rs", compile_data = ["number.txt"]',
    )
    with (workspace.root / "BUILD").open("a") as stream:
        stream.write('genrule(name = "made", outs = ["made.rs"], cmd = "echo \'')
        stream.write("pub const N: usize = 2;' > $@\")\n")
    (workspace.root / "number.txt").write_text("five!")
    (workspace.root / "low.rs").write_text(
        "#![no_std]\nmod made;\n"
        'pub fn add(x: u32) -> u32 { x + (made::N + include_str!("number.txt").len()) as u32 }\n'
    )
    workspace.build("//:demo")
    ptx = (workspace.bin() / "demo/sm_80.ptx").read_text()
    assert ", 7;" in ptx


def test_output_groups(workspace: Workspace) -> None:
    built = workspace.build("//:demo", "--output_groups=ptx,cubin")
    for name in ("demo/sm_80.ptx", "demo/sm_90.cubin"):
        assert f"bin/{name}\n" in built.stderr
    assert "demo.fatbin" not in built.stderr


# The examples of this checkout.


@pytest.fixture(scope="module")
def examples() -> Path:
    """The folder with the examples' programs."""
    checkout = Workspace(bazel.CHECKOUT)
    checkout.build("//examples/...")
    return checkout.bin() / "examples"


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory, tools: Tools) -> Path:
    """A folder with a CUDA driver whose GPU is this machine."""
    folder = tmp_path_factory.mktemp("driver")
    source = Path(__file__).with_name("fake_cuda.c")
    flags = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    library = folder / "libcuda.so.1"
    subprocess.run([tools.host_linker, *flags, source, "-o", library], check=True)
    return folder


def start(program: Path, **environ: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [program], env=os.environ | environ, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", ["saxpy/saxpy", "saxpy/saxpy_rust", "reduce/reduce"])
def test_hosts_without_a_gpu_say_so(examples: Path, name: str, tmp_path: Path) -> None:
    if not os.path.exists("/dev/nvidiactl"):
        code, out, err = start(examples / name)
        assert (code, err) == (0, "")
        assert "bytes is linked in" in out
        assert "nothing was run: no CUDA driver is installed (libcuda.so.1)\n" in out
    assert images(examples / name) == [
        *("ELF sm_120", "ELF sm_75", "ELF sm_80", "ELF sm_86", "ELF sm_89", "ELF sm_90"),
        "PTX sm_90",
    ]


@pytest.mark.parametrize("name", ["saxpy/saxpy", "saxpy/saxpy_rust"])
def test_hosts_run_and_check_the_kernel(examples: Path, driver: Path, name: str) -> None:
    path = {"LD_LIBRARY_PATH": str(driver)}
    code, out, err = start(examples / name, **path)
    assert (code, err) == (0, "")
    assert "100003 elements are right" in out
    code, out, _ = start(examples / name, **path, FAKE_CUDA_NO_GPU="1")
    assert code == 0
    assert "nothing was run: the CUDA driver finds no GPU\n" in out
    code, _, err = start(examples / name, **path, FAKE_CUDA_WRONG="1")
    assert (code, err) == (1, "saxpy: y[0] is 2, not 1\n")
    code, _, err = start(examples / name, **path, FAKE_CUDA_FAULT="1")
    assert code == 1
    assert "700" in err

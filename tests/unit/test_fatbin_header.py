"""The header in every dialect of C and C++, with gcc and clang, whatever the names."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from fatcrate.fatbin import bindings
from fatcrate.toolchain.manifest import Kernel, Manifest

_C = ["c89", "gnu89", "c99", "c11", "c17", "c2x"]
_CPP = ["c++98", "c++11", "c++14", "c++17", "c++20", "c++2b"]
_STRICT = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]

_NAMES = [
    "saxpy",
    "a_rather_long_name_of_a_kernel_with_a_number_0123456789" * 4,
    "_ZN4core3fmt9Formatter",
    "sum$f32",
    "größe",
    "*/ int x; /*",
    "a//b",
    "what??/",
    '"quoted"\\',
    "line\nbreak",
]
_SYMBOLS = ["int", "_", "__x", "CamelCase", "x1"]


def compilers() -> list[tuple[str, str, str]]:
    """(language, standard, compiler); clang is looked for where Debian puts it."""
    clang = next(iter(sorted(Path("/usr/lib").glob("llvm-*/bin/clang"))), Path("clang"))
    pairs = [("c", ("gcc", str(clang)), _C), ("c++", ("g++", f"{clang}++"), _CPP)]
    return [
        (language, standard, compiler)
        for language, programs, standards in pairs
        for compiler in programs
        for standard in standards
    ]


@pytest.mark.parametrize(("language", "standard", "compiler"), compilers())
@pytest.mark.parametrize("register", [False, True])
def test_compiles(
    tmp_path: Path, language: str, standard: str, compiler: str, register: bool
) -> None:
    """All headers in one source, each twice, one function used and the others not."""
    bound = [bindings.BoundKernel(name, [f"p: {name}", "q: *const f32"]) for name in _NAMES]
    lines = []
    for symbol in _SYMBOLS:
        text = bindings.header(symbol, bound, register)
        (tmp_path / f"{symbol}.h").write_text(text, encoding="utf-8")
        lines += [f'#include "{symbol}.h"'] * 2
    kernels = [Kernel(name, "c", [], module=f"m{i % 2}") for i, name in enumerate(_NAMES)]
    manifest = Manifest("parts", "nvptx64-nvidia-cuda", kernels, [], [], {})
    parts = {"m0": "parts_m0", "m1": "parts_m1"}
    (tmp_path / "parts.h").write_text(bindings.parts_header("parts", parts, manifest))
    lines += ['#include "parts.h"'] * 2
    lines += ["int main(void) { return int_kernels()[0] == 0 || x1_size() == 0; }", ""]
    source = tmp_path / "main.x"
    source.write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run(
        [compiler, f"-std={standard}", *_STRICT, "-x", language, source],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_names_come_through(tmp_path: Path) -> None:
    bound = [bindings.BoundKernel(name) for name in _NAMES]
    (tmp_path / "k.h").write_text(bindings.header("k", bound), encoding="utf-8")
    (tmp_path / "k.c").write_text(
        '#include <stdio.h>\n#include "k.h"\nconst unsigned char k_start[1], k_end[1];\n'
        "int main(void) { int i; for (i = 0; k_kernels()[i]; i++)"
        ' printf("%s%c", k_kernels()[i], 0); return i != K_KERNEL_COUNT; }\n'
    )
    program = tmp_path / "k"
    subprocess.run(["gcc", "-std=c89", tmp_path / "k.c", "-o", program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True).stdout
    assert printed.decode("utf-8").split("\0")[:-1] == _NAMES

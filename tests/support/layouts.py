"""Made-up toolchain folders: programs that answer as the real ones do, nothing else."""

from __future__ import annotations

from pathlib import Path

from fatcrate.toolchain.locate import Request


def program(path: Path, *cases: tuple[str, str]) -> Path:
    """A shell program that prints a text for each first argument."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arms = "".join(f"{pattern})\ncat <<'END'\n{text}\nEND\n;;\n" for pattern, text in cases)
    path.write_text(f'#!/bin/sh\ncase "$1" in\n{arms}esac\n', encoding="utf-8")
    path.chmod(0o755)
    return path


def rustc(sysroot: Path, version: str = "1.96.0", llvm: str = "22.1.8") -> Path:
    """A rustc in ``sysroot/bin``."""
    return program(
        sysroot / "bin" / "rustc",
        (
            "-vV",
            f"rustc {version} (0123456789 2026-05-25)\nbinary: rustc\ncommit-hash: 0123456789\n"
            f"host: x86_64-unknown-linux-gnu\nrelease: {version}\nLLVM version: {llvm}",
        ),
        ("--print", str(sysroot)),
    )


def rust_src(sysroot: Path) -> Path:
    """The component rust-src as rustup lays it out."""
    library = sysroot / "lib/rustlib/src/rust/library"
    (library / "core/src").mkdir(parents=True)
    (library / "core/src/lib.rs").write_text("#![no_core]\n", encoding="utf-8")
    return library


def prebuilt(sysroot: Path) -> Path:
    """The prebuilt target as `rustup target add nvptx64-nvidia-cuda` lays it out."""
    folder = sysroot / "lib/rustlib/nvptx64-nvidia-cuda/lib"
    folder.mkdir(parents=True)
    for name in ("libcore-12ab.rlib", "liballoc-34cd.rlib", "libcompiler_builtins-56ef.rlib"):
        (folder / name).write_bytes(name.encode())
    return folder


def rustup(home: Path, name: str, **versions: str) -> Path:
    """A rustup toolchain without device library; returns its sysroot."""
    sysroot = home / "toolchains" / name
    rustc(sysroot, **versions)
    return sysroot


def cuda(root: Path, version: str = "13.5.37", isa: str = "9.5") -> Path:
    """A CUDA toolkit: ptxas and libdevice; returns ``root``."""
    release = version.rsplit(".", 1)[0]
    path = program(
        root / "bin" / "ptxas",
        (
            "--version",
            f"ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release"
            f" {release}, V{version}",
        ),
        ("--help", "Allowed values: 'compute_75','sm_75','sm_80',\n 'sm_90','sm_90a','sm_120'."),
        ("-arch", f"fatal : Unsupported .version 99.9; current version is '{isa}'"),
    )
    assert path.exists()
    libdevice = root / "nvvm/libdevice/libdevice.10.bc"
    libdevice.parent.mkdir(parents=True)
    libdevice.write_bytes(b"BC\xc0\xde" + version.encode())
    return root


def c_compiler(folder: Path) -> Path:
    """A `cc`; returns its folder, for PATH."""
    program(folder / "cc", ("--version", "cc (Debian 12.2.0-14) 12.2.0"))
    return folder


LLVM_ROWS = """\
{"package": "llvmlite 0.50.0", "version": "22.1.0", "max_ptx_isa": "9.0"}
{"arch": "sm_75", "isa": "6.3"}
{"arch": "sm_85", "isa": ""}
{"arch": "sm_90", "isa": "7.8"}"""


def request(root: Path, **overrides: object) -> Request:
    """A request that sees nothing but ``root``'s layouts; its Python only plays LLVM's probe."""
    values: dict[str, object] = {
        "root": str(root),
        "rustup_home": str(root / "rustup"),
        "path": "/usr/bin",
        "python": str(program(root / "python3", ("-I", LLVM_ROWS))),
    }
    return Request(**(values | overrides))  # type: ignore[arg-type]

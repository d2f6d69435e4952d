"""The recipe: the same argv from Python and from Starlark, and what the argv is."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
import starlark
from fatcrate.rules import recipe

TOOLS = {
    "step": ["python", "-m", "fatcrate"],
    "rustc": "bin/rustc",
    "host_linker": "bin/cc",
    "ptxas": "bin/ptxas",
    "nvlink": "bin/nvlink",
    "libllvm": "lib/libLLVM.so",
    "nvdisasm": "bin/nvdisasm",
    "libdevice": "libdevice.10.bc",
    "rust_src": "library",
    "identity": "toolchain.json",
}

#: function -> positional and named arguments; each parameter appears in some call.
CALLS: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("sysroot_outputs", ["sr"], {}),
    ("sysroot_argv", ["TOOLS", "sr", "abort"], {}),
    ("crate_metadata", ["kern/src/lib.rs"], {}),
    ("crate_metadata", ["a"], {"features": ["x", "y"], "cfgs": ["wide"]}),
    ("package_env", [{}, "kern"], {}),
    ("package_env", [{"name": "k-1", "version": "1.2.3-rc.1+x", "authors": "a:b"}, "k_1"], {}),
    ("crate_flags", ["device", "sr", 3, 0, "immediate-abort"], {}),
    ("crate_flags", ["device", "", "s", "line-directives-only", "abort"], {}),
    *(("crate_flags", [kind, "", 3, 0, ""], {}) for kind in ("host", "proc-macro", "program")),
    ("crate_argv", ["TOOLS", "kern", "kern.rs", "out/libkern.rlib", "kern.rs"], {}),
    (
        "crate_argv",
        ["TOOLS", "kern", "kern.rs", "out/libkern.rlib", "kern.rs"],
        {
            "kind": "device",
            "edition": "2024",
            "sysroot": "sr",
            "panic": "abort",
            "opt_level": "s",
            "debug": 1,
            "deps": [["m", "out/libm.rlib"], ["other", "out/libp.so"]],
            "dep_dirs": ["out", "out/p"],
            "features": ["fast"],
            "cfgs": ["wide", 'mode="x"'],
            "env": [["A", "1 2"], ["B", ""]],
            "remaps": [["/abs", "/crates/kern"]],
            "rustc_flags": ["-Cno-vectorize-loops"],
            "manifest_dir": "pkg",
            "build_script": "out/script",
            "options": ["--depfile", "out/libkern.rlib.d"],
        },
    ),
    *(
        ("crate_argv", ["TOOLS", "p", "p.rs", "out/p", "p.rs"], {"kind": kind})
        for kind in ("host", "proc-macro", "program")
    ),
    ("build_script_argv", ["TOOLS", "out/script", "pkg", "out/made"], {}),
    (
        "build_script_argv",
        ["TOOLS", "out/script", "pkg", "out/made"],
        {
            "kind": "host",
            "sysroot": "sr",
            "env": [["CARGO_PKG_NAME", "x"]],
            "features": ["fast"],
            "links": "z",
            "deps": [["y", "out/y"]],
            "opt_level": 1,
            "debug": 2,
            "options": ["--quiet"],
        },
    ),
    (
        "link_argv",
        [
            "TOOLS",
            "demo",
            [["m", "out/libm.rlib"], ["kern", "out/libkern.rlib"]],
            [["core", "sr/libcore.rlib"]],
            "out/linked.bc",
            "out/manifest.json",
            "out/link.json",
        ],
        {
            "exports": ["saxpy"],
            "engine": "libllvm",
            "undefined": ["HITS"],
            "map": "out/link.map",
            "why": ["HITS"],
            "trace_symbol": ["HITS"],
            "print_gc": True,
            "debug": "full",
            "budgeted": ["saxpy"],
            "places": [["saxpy", "fatcrate.yaml:3:7"]],
            "kernels_of": ["m", "kern/saxpy"],
            "leave": ["axpy"],
            "plan": "out/plan.json",
            "options": ["--timeout", "5"],
        },
    ),
    (
        "partition_argv",
        ["TOOLS", "demo", [["m", "out/libm.rlib"]], [["m", [0]]], ["1", "2"], "plan.json"],
        {},
    ),
    ("merge_manifests_argv", ["TOOLS", "demo", ["a.json", "b.json"], "demo.json"], {}),
    (
        "merge_manifests_argv",
        ["TOOLS", "demo", ["a.json"], "demo.json"],
        {"one_module": True, "exports": ["k"], "budgeted": ["k"], "places": [["k", "//:demo"]]},
    ),
    ("merge_reports_argv", ["TOOLS", "demo", [["a", "a.json"]], "demo.json"], {}),
    ("nvlink_argv", ["TOOLS", "sm_90", ["a.cubin", "b.cubin"], "demo.cubin"], {}),
    ("codegen_argv", ["TOOLS", "sm_90a", "linked.bc", "m.json", "o.ptx"], {}),
    (
        "codegen_argv",
        ["TOOLS", "sm_90a", "linked.bc", "m.json", "o.ptx"],
        {
            "opt_level": 1,
            "engine": "llvmlite",
            "min_driver": "535",
            "ftz": True,
            "div": "full",
            "sqrt": "approx",
            "contract": "on",
            "debug": "full",
            "inline_threshold": "99",
            "unroll": False,
            "vectorize": False,
            "llvm_options": ["-unroll-threshold=100"],
            "remarks": "r.yaml",
            "time_trace": "t.json",
            "options": ["--number-places"],
        },
    ),
    (
        "assemble_argv",
        ["TOOLS", "sm_90", "in.ptx", "o.cubin", "o.json"],
        {
            "options": ["-O2", "--maxrregcount=32"],
            "budgets": ["k:max_stack=0"],
            "relocatable": True,
            "partial": True,
        },
    ),
    (
        "abi_check_argv",
        [
            "TOOLS",
            "m.json",
            ["link.json", "other.json"],
            [["sm_90", "o.cubin"], ["compute_90", "o.ptx"]],
            [["sm_90", "o.json"]],
            "report.json",
        ],
        {},
    ),
    ("ir_argv", ["TOOLS", ["libk.rlib"], "k.ll"], {"options": ["--kernel", "k"]}),
    ("disassemble_argv", ["TOOLS", "o.cubin", "o.sass"], {}),
    ("copy_argv", ["o.ptx", "4-sm_90.ptx"], {}),
    ("pack_argv", ["TOOLS", [["sm_90", "o.cubin"]], "k.fatbin"], {}),
    (
        "pack_argv",
        ["TOOLS", [["sm_90", "o.cubin"]], "k.fatbin"],
        {"compress": "none", "allow": ["a", "b"], "deny": ["c"], "options": ["-g"]},
    ),
    ("embed_argv", ["TOOLS", "k.fatbin", "k.o", "aarch64", "k"], {"options": ["--register"]}),
    (
        "embed_parts_argv",
        ["TOOLS", [["a", "d.a.fatbin"]], "m.json", "k.o", "aarch64", "k"],
        {},
    ),
    ("bindings_parts_argv", ["TOOLS", [["a", "d.a.fatbin"]], "m.json", "k", "k.h"], {}),
    ("bindings_argv", ["TOOLS", "k.fatbin", "m.json", "k", "k.h"], {"options": ["--rust", "k.rs"]}),
]


def in_python(name: str, args: list[Any], named: dict[str, Any]) -> Any:
    tools = SimpleNamespace(**TOOLS)
    return getattr(recipe.load(), name)(*(tools if a == "TOOLS" else a for a in args), **named)


def in_starlark(name: str, args: list[Any], named: dict[str, Any]) -> Any:
    def literal(value: Any) -> str:
        if value == "TOOLS":
            return "TOOLS"
        if isinstance(value, bool):
            return str(value)
        return json.dumps(value)

    given = [literal(arg) for arg in args] + [f"{key} = {literal(v)}" for key, v in named.items()]
    tools = ", ".join(f"{key} = {json.dumps(value)}" for key, value in TOOLS.items())
    texts = [path.read_text(encoding="utf-8") for path in recipe.RECIPES]
    source = next(text for text in texts if f"def {name}(" in text)
    source += f"\nTOOLS = struct({tools})\n{name}({', '.join(given)})\n"
    names = starlark.Globals.extended_by([starlark.LibraryExtension.StructType])
    dialect = starlark.Dialect.standard()
    return starlark.eval(starlark.Module(), starlark.parse("recipe.bzl", source, dialect), names)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_python_and_starlark_agree(call: tuple[str, list[Any], dict[str, Any]]) -> None:
    made = in_python(*call)
    assert made == in_starlark(*call)
    if isinstance(made, list):
        assert all(isinstance(word, str) for word in made)


def test_every_function_is_called_above() -> None:
    public = {name for name, value in vars(recipe.load()).items() if callable(value)}
    # `struct` and `fail` are supplied; the device crate is a struct, compared field by field.
    assert public - {"struct", "fail", "device_crate"} == {name for name, _, _ in CALLS}
    made = recipe.load().device_crate("dev")
    assert vars(made) == {
        "name": "gpu",
        "source": "dev/gpu/src/lib.rs",
        "edition": "2024",
        "origin": "fatcrate/gpu",
        "remaps": [("dev", "/fatcrate/device")],
    }


def test_unknown_kind_of_crate() -> None:
    with pytest.raises(ValueError, match="must be device, host, proc-macro or program, not gpu"):
        in_python("crate_flags", ["gpu", "", 3, 0, "abort"], {})


def test_argv_of_a_device_crate() -> None:
    argv = in_python(
        "crate_argv",
        ["TOOLS", "kern", "kern.rs", "out/libkern.rlib", "kern.rs"],
        {"sysroot": "sr", "deps": [("m", "out/libm.rlib")], "features": ["fast"]},
    )
    assert argv == [
        *("python", "-m", "fatcrate", "compile", "--output", "out/libkern.rlib", "--"),
        *("bin/rustc", "--crate-name", "kern", "--edition", "2021", "-Cmetadata=kern.rs"),
        *("--crate-type", "rlib", "--target", "nvptx64-nvidia-cuda", "--sysroot", "sr"),
        *("-Copt-level=3", "-Clinker-plugin-lto", "-Ccodegen-units=1", "-Zunstable-options"),
        *("-Cpanic=immediate-abort", "-Cdebuginfo=0", "-Csymbol-mangling-version=v0"),
        *("-Zremap-cwd-prefix=.", "-Zmir-enable-passes=-JumpThreading"),
        *("-Zcrate-attr=feature(abi_gpu_kernel,abi_ptx)", "-Aduplicate-features"),
        *("-Aunused-features", "-Dmissing-gpu-kernel-export-name"),
        *("--extern", "m=out/libm.rlib", "--cfg", 'feature="fast"'),
        "kern.rs",
    ]


def test_argv_of_a_proc_macro() -> None:
    argv = in_python(
        "crate_argv", ["TOOLS", "p", "p.rs", "out/libp.so", "p.rs"], {"kind": "proc-macro"}
    )
    assert argv[argv.index("--crate-type") :] == [
        *("--crate-type", "proc-macro", "-Copt-level=0", "-Ccodegen-units=1"),
        *("-Cstrip=debuginfo", "-Zremap-cwd-prefix=.", "-Clinker=bin/cc"),
        *("--extern", "proc_macro", "p.rs"),
    ]

"""Demangling against LLVM's demangler, PTX names, nearest names."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from fatcrate.lto import archive, bitcode, inputs, symbols
from fatcrate.rules import sysroot
from fatcrate.toolchain.discover import Tools
from hypothesis import given
from hypothesis import strategies as st
from support.device import build_sysroot


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("_RNvCs1234_7mathlib5scale", "mathlib::scale"),
        ("_RINvCs1234_7mathlib5scalefKj3_E", "mathlib::scale::<f32, 3>"),
        ("_RNCNvCs1234_1a4main0", "a::main::{closure#0}"),
        ("_RNCNvCs1234_1a4mains_0", "a::main::{closure#1}"),
        ("_RNvXCs1234_1aNtB2_1SNtB2_1T1f", "<a::S as a::T>::f"),
        ("_RNvYhNtCs1234_1a1T1f", "<u8 as a::T>::f"),
        ("_RNvMCs1234_1aNtB2_1S3new", "<a::S>::new"),
        (
            "_RINvCs1234_1a1fReQhPdOfTabEThEAhj4_SuE",
            "a::f::<&str, &mut u8, *const f64, *mut f32, (i8, bool), (u8,), [u8; 4], [()]>",
        ),
        ("_RNvCs1_1au9gre_6ka8i", "a::größe"),
        ("_RINvCs1234_1a1fDNtB2_1TEL_E", "a::f::<dyn a::T>"),
        ("_RINvCs1234_1a1fFUKCjEuE", 'a::f::<unsafe extern "C" fn(usize)>'),
        ("_RINvCs1234_1a1fKb1_Kc78_Kan5_E", "a::f::<true, 'x', -5>"),
        ("_RNvCs1234_7mathlib5scale.llvm.123", "mathlib::scale"),
        ("_ZN7mathlib4norm17h0123456789abcdefE", "mathlib::norm"),
        (
            "_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt"
            "17h0123456789abcdefE",
            "<alloc::string::String as core::fmt::Display>::fmt",
        ),
        ("_ZN3foo3barE", "_ZN3foo3barE"),  # C++: no hash
        ("_ZN3fooE", "_ZN3fooE"),
        ("_ZN", "_ZN"),
        ("_R", "_R"),
        ("_RNvC", "_RNvC"),
        ("_RB_", "_RB_"),
        ("_R1NvC1a1f", "_R1NvC1a1f"),  # an encoding version of the future
        ("memcpy", "memcpy"),
        ("", ""),
    ],
)
def test_demangle(name: str, plain: str) -> None:
    assert symbols.demangle(name) == plain


@pytest.fixture(scope="module")
def mangled(tools: Tools) -> list[str]:
    """All v0 names of the sysroot."""
    library = sysroot.library_folder(build_sysroot(tools, "immediate-abort"))
    found: set[str] = set()
    for crate in ("core", "compiler_builtins", "alloc"):
        path = f"{library}/lib{crate}.rlib"
        for member in archive.members(inputs.read_file(path), path):
            if bitcode.is_bitcode(member.data):
                info = bitcode.read(member.data, member.name)
                found |= {s.name for s in info.symbols if s.name.startswith("_R")}
    return sorted(found)


def test_demangling_agrees_with_llvm(mangled: list[str]) -> None:
    filt = shutil.which("llvm-cxxfilt-22") or shutil.which(
        "llvm-cxxfilt", path="/usr/lib/llvm-22/bin"
    )
    if filt is None:
        pytest.skip("llvm-cxxfilt 22 is not installed")
    shown = subprocess.run(
        [filt], input="\n".join(mangled), text=True, capture_output=True, check=True
    ).stdout.splitlines()
    assert len(mangled) > 1000
    assert [symbols.demangle(name) for name in mangled] == shown


@given(st.text(st.sampled_from("RNvCsIXMYB_KLETAS0123456789abcdefhijuz"), max_size=60))
def test_hostile_names_neither_fail_nor_hang(tail: str) -> None:
    assert len(symbols.demangle("_R" + tail)) <= 20_100


def test_nested_back_references_do_not_explode() -> None:
    name = "_RINvC1a1f" + "T" * 50 + "h" + "".join(f"B{'abcdefgh'[i % 8]}_" for i in range(50))
    assert len(symbols.demangle(name)) <= 20_100


def test_internal_name_of_any_rustc() -> None:
    assert symbols.internal_name("_RNvCsfgHYwM92fyn_7___rustc12___rust_alloc") == "__rust_alloc"
    assert symbols.internal_name("_RNvCs1234_7mathlib5scale") == "_RNvCs1234_7mathlib5scale"
    assert symbols.internal_name("malloc") == "malloc"


@pytest.mark.parametrize("name", ["k", "_a", "$x", "%y", "a1$_", "_R0"])
def test_ptx_takes_the_name(name: str) -> None:
    assert symbols.is_ptx_name(name)
    assert symbols.ptx_name(name) == name


@given(st.text(max_size=20))
def test_every_name_becomes_one_that_ptx_takes(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_$]*|[_$%][A-Za-z0-9_$]+", symbols.ptx_name(name))


def test_nearest_names() -> None:
    known = ["_RNvCs1_1a5scale", "scale_by", "unrelated", "norm"]
    assert symbols.nearest("scale_bx", known)[0] == "scale_by"
    assert symbols.nearest("_RNvCs9_1b5scale", known)[0] == "a::scale"
    assert symbols.nearest("xyz", known) == []
    assert symbols.nearest("norm", known) == []


def test_listed() -> None:
    assert symbols.listed(["a"]) == "a"
    assert symbols.listed(["a", "b"]) == "a and b"
    assert symbols.listed(["a", "b", "c"], "or") == "a, b or c"

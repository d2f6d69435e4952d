"""What build scripts print for cargo."""

from __future__ import annotations

import pytest
from fatcrate.rules.cargo.directives import parse
from fatcrate.toolchain.diagnostics import FatcrateError


def test_both_forms() -> None:
    found = parse(
        "talk\n"
        "cargo:rustc-cfg=old\n"
        'cargo::rustc-cfg=level="3"\n'
        "cargo::rustc-check-cfg=cfg(old, level)\n"
        "cargo:rustc-env=A=b=c\n"
        "cargo:root=/x\n"
        "cargo::metadata=include=/y\n"
        "cargo:warning=beware\n"
        "cargo:no value\n"
        " cargo:rustc-cfg=indented\n",
        "p",
    )
    assert found.cfgs == ["old", 'level="3"']
    assert found.check_cfgs == ["cfg(old, level)"]
    assert found.env == [("A", "b=c")]
    assert found.metadata == [("root", "/x"), ("include", "/y")]
    assert found.warnings == ["beware"]
    assert not found.reruns_given


def test_reruns() -> None:
    found = parse("cargo:rerun-if-changed=a.txt\ncargo::rerun-if-changed=b\n", "p")
    assert found.rerun == ["a.txt", "b"] and found.reruns_given
    found = parse("cargo:rerun-if-env-changed=CC\n", "p")
    assert found.rerun == [] and found.reruns_given


def test_what_has_no_effect_on_a_library_is_dropped() -> None:
    found = parse(
        "cargo:rustc-link-search=native=/opt\ncargo:rustc-link-arg=-Tlink.x\n"
        "cargo::rustc-link-arg-bins=-s\ncargo:rustc-flags=-L /opt -L/usr\n",
        "p",
    )
    assert found.metadata == [] and found.cfgs == []


@pytest.mark.parametrize(
    ("line", "library"),
    [
        ("cargo:rustc-link-lib=z", "z"),
        ("cargo::rustc-link-lib=static:+bundle=foo", "foo"),
        ("cargo:rustc-flags=-L /opt -l dylib=bar", "bar"),
        ("cargo:rustc-flags=-lbaz", "baz"),
    ],
)
def test_native_libraries_are_refused(line: str, library: str) -> None:
    with pytest.raises(FatcrateError) as caught:
        parse(line, "p")
    assert str(caught.value) == (
        f"error[FC0153]: p: its build script links the native library '{library}'\n"
        "  help: turn off the feature that needs the library, or use a crate in pure Rust"
    )


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(FatcrateError) as caught:
        parse("cargo::error=no luck\ncargo::nonsense=1\ncargo::bare\ncargo:rustc-flags=-O", "p")
    assert str(caught.value) == (
        "error[FC0154]: p: its build script gives rustc the flag '-O'; only -l and -L\n"
        "error[FC0154]: p: its build script printed 'cargo::bare' without a value\n"
        "error[FC0154]: p: its build script printed the unknown directive 'cargo::nonsense'\n"
        "error[FC0154]: p: its build script says: no luck"
    )

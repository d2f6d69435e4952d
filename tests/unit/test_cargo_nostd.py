"""Whether a crate needs `std`, from its root source."""

from __future__ import annotations

import pytest
from fatcrate.rules.cargo import cfgexpr
from fatcrate.rules.cargo.nostd import Need, need

CFGS = cfgexpr.printed_cfgs('target_arch="nvptx64"\n')
UNDECLARED = Need("it does not declare #![no_std]")
OFF = Need("it is not #![no_std]", ("std",))
EXTERN = Need("it has an 'extern crate std'", ("std",))


@pytest.mark.parametrize(
    ("source", "features", "answer"),
    [
        ("#![no_std]\npub fn f() {}\n", "", None),
        ("// #![no_std]\npub fn f() {}\n", "", UNDECLARED),
        ("//! Docs with `#![no_std]`.\n/* /* #![no_std] */ */ pub fn f() {}", "", UNDECLARED),
        ("/* c */ #![allow(x)] #! [ no_std ]\n", "", None),
        ('#![cfg_attr(not(feature = "std"), no_std)]', "", None),
        ('#![cfg_attr(not(feature = "std"), no_std)]', "std", OFF),
        ('#![cfg_attr(not(any(feature = "std", test)), no_std)]', "std other", OFF),
        ("#![cfg_attr(not(from_script), no_std)]", "", None),
        ('#![cfg_attr(target_arch = "nvptx64", feature(x), no_std)]', "", None),
        ('#![cfg_attr(target_arch = "x86_64", no_std)]', "", Need("it is not #![no_std]")),
        ('#![no_std]\n#[cfg(feature = "std")]\nextern crate std;\n', "std", EXTERN),
        ('#![no_std]\n#[cfg(feature = "std")]\nextern crate std;\n', "", None),
        ('#![no_std]\n#[cfg(feature = "std")] #[macro_use]\nextern crate std;\n', "std", EXTERN),
        ("#![no_std]\n#[cfg(test)]\nextern crate std;\n", "", None),
        ("#![no_std]\n#[cfg(from_script)]\nextern crate std;\n", "", None),
        ("#![no_std]\nextern crate std as core2;\n", "", Need("it has an 'extern crate std'")),
        ("#![no_std]\nextern crate alloc;\nuse alloc::vec::Vec;\n", "", None),
        ("#![no_std]\nmod m { #[cfg(never)] fn f() {} }\nextern crate core;\n", "", None),
        ('#![no_std]\nconst S: &str = "extern crate std;";\n', "", None),
        (
            "#![no_std]\nfn f<'a>(c: char) -> bool { c == '\"' }\nextern crate std;\n",
            "",
            Need("it has an 'extern crate std'"),
        ),
        ('#![doc = "a ] b"]\n#![no_std]\n', "", None),
        ('#![doc = r#"a "quoted" ] b"#]\n#![no_std]\n', "", None),
    ],
)
def test_need(source: str, features: str, answer: Need | None) -> None:
    assert need(source, CFGS, set(features.split())) == answer


def test_hostile_sources_end_promptly() -> None:
    for source in ("/*" * 50_000, "#![" * 50_000, '"' * 100_001, "{" * 200_000, "'" * 100_000):
        assert need(source, CFGS, set()) == UNDECLARED

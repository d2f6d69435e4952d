"""Crates from the argv of compile actions, which the recipe made."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fatcrate.rules import bazel_crates, recipe
from fatcrate.rules.bazel_crates import BazelCrate, Workspace

TOOLS = SimpleNamespace(step=["python", "step.py", "packages"], rustc="ext/rustc", host_linker="cc")


def action(name: str, kind: str, library: str, **options: Any) -> BazelCrate:
    steps = recipe.load()
    argv = steps.crate_argv(
        TOOLS, name, f"{name}/lib.rs", library, f"{name}/lib.rs", kind=kind, **options
    )
    return bazel_crates.parse(argv)


def test_one_crate() -> None:
    crate = action(
        "kern",
        "device",
        "bin/libkern.rlib",
        edition="2024",
        sysroot="bin/sysroot",
        features=["fast"],
        cfgs=['mode="a=b"'],
        env=[("A", "1=2")],
        deps=[("m", "bin/libm.rlib")],
        rustc_flags=["-Cx"],
    )
    assert (crate.key, crate.kind, crate.edition) == (("kern", "kern/lib.rs"), "device", "2024")
    assert (crate.source, crate.library) == ("kern/lib.rs", "bin/libkern.rlib")
    assert crate.cfgs == ['feature="fast"', 'mode="a=b"']
    assert crate.env == {"A": "1=2"}
    assert crate.externs == [("m", "bin/libm.rlib")]


def test_each_crate_once_dependencies_first() -> None:
    found = bazel_crates.crates(
        [
            action(
                "kern",
                "device",
                "bin/libkern.rlib",
                deps=[("base", "bin/libbase.rlib"), ("mac", "bin/libmac.so")],
            ),
            action("kern", "host", "bin/host/libkern.rlib"),
            action(
                "mac",
                "proc-macro",
                "bin/libmac.so",
                deps=[("base", "bin/host/libbase.rlib"), ("quote", "bin/host/libquote.rlib")],
            ),
            action("base", "host", "bin/host/libbase.rlib"),
            action("base", "device", "bin/libbase.rlib"),
            action("quote", "host", "bin/host/libquote.rlib"),
        ]
    )
    assert [(crate.key[0], crate.kind) for crate in found] == [
        ("base", "device"),
        ("quote", "host"),
        ("mac", "proc-macro"),
        ("kern", "device"),
    ]
    kern = found[-1]
    assert [(name, key[0]) for name, key in kern.deps] == [("base", "base"), ("mac", "mac")]
    workspace = Workspace("/w", "/e", "/o", "rustc", found)
    entry = bazel_crates.entry(kern, workspace, {crate.key: i for i, crate in enumerate(found)})
    assert entry["deps"] == [{"crate": 0, "name": "base"}, {"crate": 2, "name": "mac"}]
    assert entry["root_module"] == "/e/kern/lib.rs"

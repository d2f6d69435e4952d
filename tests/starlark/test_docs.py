"""The reference of the Bazel rules agrees with the rules."""

from __future__ import annotations

from pathlib import Path

from support import bazel, stardoc


def test_reference(root: Path) -> None:
    """If not: python tests/support/stardoc.py > docs/bazel_rules.md"""
    page = (root / "docs/bazel_rules.md").read_text(encoding="utf-8")
    assert page == stardoc.render()


def test_everything_is_documented() -> None:
    rules = stardoc.Loader().file("//rules:defs.bzl", "")
    found = {k: v for k, v in rules.items() if isinstance(v, stardoc.Documented)}
    assert {"gpu_kernels", "gpu_rust_library", "gpu_rust_proc_macro"} <= found.keys()
    for name, item in found.items():
        assert item.doc, name
        for key, member in item.members.items():
            text = member.doc if isinstance(member, stardoc.Attribute) else member
            assert text, f"{name}.{key}"


def test_the_workspace_of_the_guide_is_that_of_the_tests(root: Path) -> None:
    guide = (root / "docs/bazel.md").read_text(encoding="utf-8")
    assert bazel.WORKSPACE.format(checkout="/path/to/fatcrate") in guide

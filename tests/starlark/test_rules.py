"""Runs the analysis tests of the rules (``BUILD``) with Bazel, offline."""

from __future__ import annotations

import re

from support import bazel


def test_rules() -> None:
    workspace = bazel.Workspace(bazel.CHECKOUT)
    run = workspace.run("test", "//tests/starlark/...", "--keep_going", check=False)
    passed = re.search(r"(\d+) tests? pass\b", run.stdout + run.stderr)
    assert run.code == 0, run.stdout + run.stderr
    assert passed is not None and int(passed[1]) > 30

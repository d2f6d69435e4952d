"""Executes ``rules/private/recipe*.bzl``, the files that Bazel loads, as Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

PRIVATE = Path(__file__).parent / "private"
#: Compiling crates, and what is made of them. Each stands by itself.
RECIPES = (PRIVATE / "recipe.bzl", PRIVATE / "recipe_kernels.bzl")


def _fail(*parts: object) -> NoReturn:
    raise ValueError(" ".join(str(part) for part in parts))


def load() -> SimpleNamespace:
    """The recipe's public functions, e.g. ``load().link_argv(tools, …) -> list[str]``."""
    public: dict[str, Callable[..., Any]] = {}
    for path in RECIPES:
        scope: dict[str, Any] = {"struct": SimpleNamespace, "fail": _fail}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
        public |= {name: value for name, value in scope.items() if not name.startswith("_")}
    return SimpleNamespace(**public)

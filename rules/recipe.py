"""Executes ``rules/private/recipe.bzl``, the file that Bazel loads, as Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

RECIPE = Path(__file__).parent / "private" / "recipe.bzl"


def _fail(*parts: object) -> NoReturn:
    raise ValueError(" ".join(str(part) for part in parts))


def load() -> SimpleNamespace:
    """The recipe's public functions, e.g. ``load().link_argv(tools, …) -> list[str]``."""
    scope: dict[str, Any] = {"struct": SimpleNamespace, "fail": _fail}
    exec(compile(RECIPE.read_text(encoding="utf-8"), str(RECIPE), "exec"), scope)
    public: dict[str, Callable[..., Any]] = {
        name: value for name, value in scope.items() if not name.startswith("_")
    }
    return SimpleNamespace(**public)

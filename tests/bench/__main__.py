"""The command behind `./bench`."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import sys

import bench
from bench.harness import Bench, Result

_HELPERS = ("__main__", "harness", "project", "lto_set", "nvcc", "fatbin_images")


def registry() -> dict[str, Bench]:
    """Every benchmark by name: each module of this package but the helpers declares one."""
    found = {}
    for module in pkgutil.iter_modules(bench.__path__):
        if module.name not in _HELPERS:
            declared: Bench = importlib.import_module(f"bench.{module.name}").BENCH
            found[declared.name] = declared
    return dict(sorted(found.items()))


def as_json(declared: Bench, result: Result) -> dict[str, object]:
    """``{"name", "value" or "ratio", "goal", "runs", "detail"}``."""
    return {
        "name": declared.name,
        declared.unit: round(result.figure, 4),
        "goal": declared.goal,
        "runs": [round(run, 4) for run in result.runs],
        "detail": result.detail,
    }


def as_text(declared: Bench, result: Result) -> str:
    """Two lines: the figure against its goal, and what went in."""
    unit = " s" if declared.unit == "value" else ""
    verdict = "within" if result.figure <= declared.goal else "MISSES"
    spread = f"{min(result.runs):.3f} to {max(result.runs):.3f}"
    detail = "".join(f", {key} {value}" for key, value in result.detail.items())
    return (
        f"{declared.name}: {result.figure:.3f}{unit}, {verdict} the goal {declared.goal}{unit}"
        f" ({len(result.runs)} runs, {spread}{detail})\n  {declared.summary}"
    )


def main() -> int:
    """Runs the named benchmarks; 1 when a goal is missed."""
    known = registry()
    parser = argparse.ArgumentParser(
        prog="./bench",
        description="Measures. See BENCHMARKS.md for what each figure means.",
        epilog="benchmarks:\n"
        + "\n".join(f"  {name:16} {item.summary}" for name, item in known.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="+", choices=[*known, "all"], metavar="NAME")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()
    names = list(known) if "all" in args.names else args.names
    # ./bench sets it for itself. With it `fatcrate build` starts each step in a process of its
    # own, as it does not where a user runs it.
    os.environ.pop("PYTHONPATH", None)
    status = 0
    for name in names:
        result = known[name].run()
        if args.json:
            print(json.dumps(as_json(known[name], result)), flush=True)
        else:
            print(as_text(known[name], result), flush=True)
        if result.figure > known[name].goal:
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

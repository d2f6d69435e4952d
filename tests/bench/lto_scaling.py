"""How time and memory of link and code generation grow with crates, kernels and architectures."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fatcrate.rules import sysroot
from fatcrate.rules.ninja import plan
from support.device import SYSROOT_CRATES

from bench import harness, lto_set

CRATES = (10, 20, 40, 80)
KERNELS = (12, 24, 48, 96)
ARCHS = ("sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
RUNS = 3


@dataclass(frozen=True)
class Cost:
    """Seconds of wall time of link and code generation, and MiB of their largest process."""

    seconds: float
    mib: float


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """The slope of the straight line through the logarithms of (size, cost): least squares."""
    xs = [math.log(x) for x, _ in points]
    ys = [math.log(y) for _, y in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    over = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True))
    return over / sum((a - x) ** 2 for a in xs)


def _run(argv: list[str], cwd: Path) -> float:
    """Runs a command; returns the MiB of its largest process."""
    words = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', str(cwd), *argv]
    _, status, usage = os.wait4(os.posix_spawn(words[0], words, os.environ), 0)
    if status:
        raise SystemExit(f"bench: {' '.join(argv)}: status {status}")
    return usage.ru_maxrss / 1024


def _cost(made: lto_set.CrateSet, crates: Sequence[str], archs: Sequence[str]) -> Cost:
    """Links some crates and generates for some architectures, each by itself, two at a time."""
    shop, folder = made.shop, made.shop.folder
    tools, recipe = shop.recipe_tools, made.shop.recipe
    tools.step = plan.step_prefix()
    lib = sysroot.library_folder(shop.sysroot)
    chosen = [(name, shop.crates[name].name) for name in ("library", *crates)]
    libraries = [(c, f"{lib}/lib{c}.rlib") for c in SYSROOT_CRATES]
    also = [f"--also={arch}=x.{arch}.ptx" for arch in archs[1:]]
    options = ["--no-share", "--jobs", "2", *also]
    begun = time.perf_counter()
    mib = _run(
        recipe.link_argv(tools, "x", chosen, libraries, "x.bc", "x.json", "x.l.json"), folder
    )
    codegen = recipe.codegen_argv(tools, archs[0], "x.bc", "x.json", "x.ptx", 3, options)
    mib = max(mib, _run(codegen, folder))
    return Cost(time.perf_counter() - begun, mib)


def _best(measure: Callable[[], Cost]) -> Cost:
    """The quickest of some runs, with the least memory: noise only adds."""
    costs = [measure() for _ in range(RUNS)]
    return Cost(min(c.seconds for c in costs), min(c.mib for c in costs))


def _in_one_crate(made: lto_set.CrateSet, kernels: int) -> str:
    """Compiles ``kernels`` kernels in one crate; returns its name."""
    head, mark, body = lto_set.CRATE.partition("#[unsafe(no_mangle)]")
    name = f"all{kernels}"
    source = made.shop.folder / f"{name}.rs"
    bodies = [(mark + body).replace("@", str(1000 + i)) for i in range(kernels // 3)]
    source.write_text(head + "".join(bodies), encoding="utf-8")
    outcome = made.shop.compile(name, source, deps=["library"])
    if outcome.code:
        raise SystemExit(f"bench: {outcome.stderr}")
    return name


def run() -> harness.Result:
    """The figure is the worst exponent of time; memory's exponents and peaks are told too."""
    with harness.workspace() as folder:
        made = lto_set.make(folder, max(CRATES))
        crates = [name for name in made.shop.crates if name != "library"]
        tables = {
            "crates": {n: _best(lambda n=n: _cost(made, crates[:n], ARCHS[:1])) for n in CRATES},
            "kernels": {
                n: _best(lambda name=name: _cost(made, [name], ARCHS[:1]))
                for n, name in [(n, _in_one_crate(made, n)) for n in KERNELS]
            },
            "archs": {
                n: _best(lambda n=n: _cost(made, crates[:20], ARCHS[:n]))
                for n in range(1, len(ARCHS) + 1)
            },
        }
    exponents, detail = [], {}
    for what, table in tables.items():
        exponents.append(exponent([(n, cost.seconds) for n, cost in table.items()]))
        detail[what] = "/".join(map(str, table))
        detail[f"{what}_s"] = "/".join(f"{cost.seconds:.2f}" for cost in table.values())
        detail[f"{what}_mib"] = "/".join(f"{cost.mib:.0f}" for cost in table.values())
        detail[f"{what}_exponents"] = (
            f"time {exponents[-1]:.2f}, memory"
            f" {exponent([(n, cost.mib) for n, cost in table.items()]):.2f}"
        )
    return harness.Result(max(exponents), exponents, dict(detail))


BENCH = harness.Bench(
    "lto-scaling",
    "ratio",
    1.1,
    "exponent with which the time of link and code generation grows: over crates, over kernels of"
    " one crate, over architectures; the worst",
    run,
)

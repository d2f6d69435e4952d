"""An architecture more, against the code generation and assembly that it takes."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

from fatcrate.rules import recipe
from fatcrate.toolchain.discover import discover

from bench import harness, project


def run() -> harness.Result:
    """Times builds that add sm_90 to sm_80, and the two steps that this needs by hand."""
    with harness.workspace() as folder:
        project.write(folder, crates=12, kernels=5, archs=["sm_80"])
        harness.build(folder)
        out = folder / "fatcrate-out"
        linked = next(out.rglob("*linked.bc"))
        manifest = out / "bench.manifest.json"
        names = SimpleNamespace(
            step=[str(harness.FATCRATE)],
            ptxas=discover().ptxas,
            identity=str(next(out.rglob("toolchain.json"))),
        )
        argv = recipe.load()
        steps, added = [], []
        for _ in range(5):
            backup = folder / "backup"
            shutil.copytree(out, backup, symlinks=True, copy_function=shutil.copy2)
            added.append(harness.build(folder, "--archs", "sm_80,sm_90"))
            shutil.rmtree(out)
            backup.rename(out)
            ptx, cubin = str(folder / "x.ptx"), str(folder / "x.cubin")
            codegen = argv.codegen_argv(names, "sm_90", str(linked), str(manifest), ptx)
            assemble = argv.assemble_argv(names, "sm_90", ptx, cubin, str(folder / "x.json"))
            seconds = sum(harness.timed(step, cwd=folder) for step in (codegen, assemble))
            steps.append(seconds)
    ratios = [build / alone for build, alone in zip(added, steps, strict=True)]
    return harness.Result(
        harness.median(ratios),
        ratios,
        {
            "added_s": round(harness.median(added), 3),
            "codegen_and_ptxas_s": round(harness.median(steps), 3),
        },
    )


BENCH = harness.Bench(
    "added-arch",
    "ratio",
    1.3,
    "build that adds sm_90 to sm_80 ÷ one `fatcrate codegen` and one `fatcrate assemble`",
    run,
)

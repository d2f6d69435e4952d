"""An edit in one of several crates, against a build of all."""

from __future__ import annotations

import shutil

from bench import harness, project

CRATES = 20


def run() -> harness.Result:
    """Times clean builds (the sysroot is in the cache) and rebuilds after an edit, by turns."""
    with harness.workspace() as folder:
        project.write(folder, crates=CRATES, kernels=1, archs=["sm_90"])
        harness.build(folder)  # fills the sysroot cache
        clean, edited = [], []
        for turn in range(5):
            shutil.rmtree(folder / "fatcrate-out")
            clean.append(harness.build(folder))
            source = project.crate_source(turn, 1, constant=100 + turn)
            (folder / f"k{turn:02}.rs").write_text(source, encoding="utf-8")
            edited.append(harness.build(folder))
    ratios = [after / before for after, before in zip(edited, clean, strict=True)]
    return harness.Result(
        harness.median(ratios),
        ratios,
        {
            "crates": CRATES,
            "clean_s": round(harness.median(clean), 3),
            "edit_s": round(harness.median(edited), 3),
        },
    )


BENCH = harness.Bench(
    "one-crate-edit",
    "ratio",
    0.5,
    f"rebuild after a change of code in one of {CRATES} crates ÷ clean build without sysroot",
    run,
)

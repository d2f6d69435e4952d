"""The whole command `fatcrate pack` against NVIDIA's fatbinary."""

from __future__ import annotations

from pathlib import Path

from fatcrate.toolchain.discover import discover

from bench import fatbin_images, harness

ROUNDS = 15


def run() -> harness.Result:
    """Eight cubins, all compressed; the files must be equal."""
    fatbinary = Path(discover().ptxas).with_name("fatbinary")
    with harness.workspace() as folder:
        items = fatbin_images.cubins()
        names = fatbin_images.write(folder, items)
        pairs = list(zip(items, names, strict=True))
        theirs = [fatbinary, "-64", "--create=theirs", "-compress-all"]
        theirs += [f"--image3=kind=elf,sm={i.arch},file={name}" for i, name in pairs]
        ours = [harness.FATCRATE, "pack", "-o", "ours", "--compress", "default", "--compress-all"]
        ours += ["--allow", "all", *(f"sm_{i.arch}={name}" for i, name in pairs)]
        runs, mine, other = [], [], []
        for _ in range(ROUNDS):
            mine.append(harness.timed(ours, cwd=folder))
            other.append(harness.timed(theirs, cwd=folder))
            runs.append(mine[-1] / other[-1])
        assert (folder / "ours").read_bytes() == (folder / "theirs").read_bytes()
    a, b = harness.median(mine), harness.median(other)
    detail = {"ours_ms": round(a * 1e3), "fatbinary_ms": round(b * 1e3)}
    return harness.Result(a / b, runs, detail)


BENCH = harness.Bench(
    "pack-vs-fatbinary",
    "ratio",
    1.5,
    "whole command: 8 cubins of about 1 MB, zstd level 5, against NVIDIA's fatbinary",
    run,
)

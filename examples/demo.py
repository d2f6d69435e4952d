"""The main example from source to result: run by `./demo`.

Builds the saxpy example with Bazel for six SMs and PTX, reads the fat binary back from the
linked C++ program, starts the program, and runs the kernel on the CPU from the linked
bitcode against NumPy.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from fatcrate import cpu

ROOT = Path(__file__).parent.parent
KERNELS = "//examples/saxpy:kernels"
PROGRAM = "//examples/saxpy:saxpy"
ARCHS = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120", "compute_90"]


def say(text: str) -> None:
    """Prints a heading."""
    print(f"\n== {text}", flush=True)


def run(*argv: str | Path, capture: bool = False) -> str:
    """Runs a command in the checkout; ends the demo with its status when it fails."""
    done = subprocess.run(
        argv, cwd=ROOT, stdout=subprocess.PIPE if capture else None, text=True, check=False
    )
    if done.returncode != 0:
        print(f"demo: {' '.join(map(str, argv))}: exit status {done.returncode}", file=sys.stderr)
        raise SystemExit(done.returncode)
    return done.stdout or ""


def build() -> tuple[Path, Path]:
    """Builds with Bazel; returns the host program and the folder of the kernels' outputs."""
    run("bazel", "build", KERNELS, PROGRAM)
    out = Path(run("bazel", "info", "bazel-bin", capture=True).strip()) / "examples/saxpy"
    return out / "saxpy", out


def images(program: Path) -> list[dict[str, object]]:
    """The images that are inside a linked program, as `fatcrate inspect` finds them."""
    fatcrate = [sys.executable, "-m", "fatcrate"]
    text = run(*fatcrate, "inspect", "--json", "--kernels", program, capture=True)
    return [image for fatbin in json.loads(text)["fatbins"] for image in fatbin["images"]]


def table(found: list[dict[str, object]]) -> list[str]:
    """One line for each kernel of each image."""
    lines = [f"{'image':6} {'arch':11} {'kernel':12} {'registers':>9} {'shared':>7} {'size':>9}"]
    for image in found:
        kernels = image["kernels"]
        assert isinstance(kernels, list)
        for kernel in kernels:
            registers, shared = (
                ("-", "-")
                if image["kind"] == "ptx"
                else (kernel["registers"], f"{kernel['shared_bytes']} B")
            )
            size = f"{image['size']} B"
            lines.append(
                f"{image['kind']:6} {image['arch']:11} {kernel['name']:12}"
                f" {registers:>9} {shared:>7} {size:>9}"
            )
    return lines


def check_on_cpu(out: Path) -> None:
    """y = a·x + y on the CPU, from the bitcode that every image was generated from."""
    count, a = 1000, np.float32(2.5)
    random = np.random.default_rng(1)
    x = random.standard_normal(count, dtype=np.float32)
    y = random.standard_normal(count, dtype=np.float32)
    expected = a * x + y
    result = y.copy()
    with cpu.Module(out / "kernels/linked.bc", out / "kernels.manifest.json") as module:
        module.launch("saxpy", grid=8, block=128, args=[count, float(a), x, result])
    worst = float(np.max(np.abs(result - expected)))
    if not np.array_equal(result, expected):
        raise SystemExit(f"demo: the kernel's result differs from NumPy's by up to {worst}")
    print(f"{count} elements by 8 blocks of 128 threads: bit for bit what NumPy computes")


def main() -> int:
    """Runs the demo; 0 when everything is right."""
    say(f"building {KERNELS} and {PROGRAM} with Bazel")
    program, out = build()
    say("the fat binary inside the linked host program")
    found = images(program)
    print("\n".join(table(found)))
    if sorted(str(image["arch"]) for image in found) != sorted(ARCHS):
        raise SystemExit(f"demo: the program should hold images for {', '.join(ARCHS)}")
    say("starting the host program")
    run(program)
    say("running the kernel on the CPU, from the linked bitcode")
    check_on_cpu(out)
    print("\ndemo: done; the command is .venv/bin/fatcrate, outputs are in .out/bin/examples/saxpy")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

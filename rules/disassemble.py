"""``fatcrate disassemble``: the machine code of a cubin as text, by NVIDIA's nvdisasm."""

from __future__ import annotations

import argparse
import subprocess

from fatcrate.rules import errors
from fatcrate.toolchain import atomic
from fatcrate.toolchain.diagnostics import fail

_EPILOG = """\
Source lines are told where the cubin has them.

examples:
  fatcrate disassemble --nvdisasm /usr/local/cuda/bin/nvdisasm --output sm_90.sass sm_90.cubin
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate disassemble``."""
    made = argparse.ArgumentParser(
        prog="fatcrate disassemble",
        description="Write the machine code of a cubin as text.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = made.add_argument
    add("cubin", metavar="CUBIN", help="output of `fatcrate assemble`")
    add("--nvdisasm", required=True, metavar="PATH", help="NVIDIA's disassembler")
    add("--output", required=True, metavar="SASS", help="the text")
    return made


def main(argv: list[str]) -> int:
    """Runs the step; see ``--help``. Raises FC0105 and FC0128."""
    args = parser().parse_args(argv)
    try:
        done = subprocess.run(
            [args.nvdisasm, "-g", "-c", args.cubin],
            env={},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        fail(
            errors.NO_TOOL,
            args.nvdisasm,
            f"cannot be started: {error.strerror}",
            remedy="run `fatcrate doctor` to see which tools are there and how to get the others",
        )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        fail(
            errors.NOT_DISASSEMBLED,
            args.cubin,
            said[-1] if said else f"nvdisasm ended with exit code {done.returncode}",
            remedy="take the nvdisasm of the CUDA release that ptxas comes from",
        )
    atomic.write_bytes(args.output, done.stdout)
    return 0

"""``fatcrate nvlink``: relocatable cubins of one architecture to one cubin.

For targets whose partitions are to be one image. Kernels and host-visible statics must be
defined once among them. `fatcrate assemble --relocatable` makes the inputs and tells what each
kernel pays; by default a target is assembled as a whole.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess

from fatcrate.lto import errors
from fatcrate.toolchain import arch as archs
from fatcrate.toolchain import atomic
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, fail
from fatcrate.toolchain.usage import command_parser

_EPILOG = """\
examples:
  fatcrate assemble --relocatable --arch sm_90 … --output image.cubin image.ptx
  fatcrate nvlink --arch sm_90 --nvlink /usr/local/cuda/bin/nvlink --output demo.cubin \\
      image.cubin audio.cubin
"""
_MESSAGE = re.compile(r"^nvlink (?P<severity>fatal|error|warning)\s*: (?P<text>.*)$", re.MULTILINE)


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate nvlink``."""
    p = command_parser(
        "fatcrate nvlink",
        "Links relocatable cubins.",
        _EPILOG,
    )
    p.add_argument("cubins", nargs="+", metavar="CUBIN", help="from assemble --relocatable")
    p.add_argument("--arch", required=True, help="sm_90, sm_90a, …")
    p.add_argument("--nvlink", required=True, metavar="PATH", help="NVIDIA's linker")
    p.add_argument("--output", required=True, metavar="CUBIN", help="the linked cubin")
    return p


def main(argv: list[str]) -> int:
    """Runs ``fatcrate nvlink``."""
    args = parser().parse_args(argv)
    arch = archs.parse_one(args.arch)
    for path in args.cubins:
        with open(path, "rb") as stream:  # a missing input is told by name
            stream.read(1)
    with atomic.atomic_output(args.output) as output:
        command = [args.nvlink, f"-arch={arch.target_cpu}", "-o", output.name, *args.cubins]
        try:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={}, check=False
            )
        except OSError as error:
            fail(
                errors.PTXAS_MISSING,
                args.nvlink,
                error.strerror or str(error),
                remedy="nvlink is in the package of ptxas (nvidia-cuda-nvcc)",
            )
        text = done.stdout.decode("utf-8", "replace")
        faults = Collector()
        for match in _MESSAGE.finditer(text):
            if match["severity"] != "warning":
                message = match["text"].replace(output.name, args.output)
                faults.add(Diagnostic(errors.NVLINK_FAILED, os.path.basename(args.output), message))
        if done.returncode and not faults.errors:
            from fatcrate.lto import isolate

            number = -done.returncode
            how = isolate.ended_by(number) if number > 0 else f"exited with code {-number}"
            remedy = isolate.remedy(number) if number > 0 else ""
            fail(errors.NVLINK_FAILED, args.output, f"nvlink {how}", remedy=remedy)
        faults.check()
    return 0

"""ABICHECK: ``fatcrate abi-check``. Every image against the ABI manifest.

PTX is checked by its ``.param`` types, cubins by the parameter records in the machine code's
metadata; kernels must be the manifest's, no less and no more. When all agree, the target's
report is written: what LINK reported, and per arch the kernels' resources and what ASSEMBLE
reported.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from typing import Any, Final

from fatcrate.fatbin import codeobject, cubin, errors, kernels, packer, ptx
from fatcrate.fatbin.kernels import KernelInfo, KernelParameter
from fatcrate.fatbin.source import Source, open_source
from fatcrate.toolchain import manifest as manifests
from fatcrate.toolchain.arch import Arch, parse_one
from fatcrate.toolchain.atomic import write_text
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, FatcrateError, Location, fail
from fatcrate.toolchain.manifest import Kernel, Manifest, Parameter
from fatcrate.toolchain.usage import formatter

REPORT_VERSION: Final = 1

_EPILOG = """\
example:
  fatcrate abi-check --manifest demo.manifest.json --link-report demo.link.json \\
      --assemble-report sm_80=demo/sm_80.json --report demo.report.json \\
      sm_80=demo/sm_80.cubin compute_90=demo/compute_90.ptx
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate abi-check``."""
    made = argparse.ArgumentParser(
        prog="fatcrate abi-check",
        description="Check images against the ABI manifest and write the target's report.",
        epilog=_EPILOG,
        formatter_class=formatter,
    )
    made.add_argument("images", nargs="+", metavar="ARCH=FILE", help="PTX, cubin or code object")
    made.add_argument("--manifest", required=True, metavar="M", help="the ABI manifest")
    made.add_argument(
        "--link-report",
        action="append",
        default=[],
        metavar="R",
        help="LINK's report (JSON); one for each partition that is in the images",
    )
    made.add_argument(
        "--assemble-report",
        action="append",
        default=[],
        metavar="ARCH=R",
        help="ASSEMBLE's report of one arch (JSON); several for images of partitions",
    )
    made.add_argument("--report", required=True, metavar="OUT", help="the report to write")
    return made


def main(argv: list[str]) -> int:
    """Runs ``fatcrate abi-check``. Raises FatcrateError with every disagreement found."""
    args = parser().parse_args(argv)
    manifest = manifests.load(args.manifest)
    faults = Collector()
    report: dict[str, Any] = {
        "version": REPORT_VERSION,
        "name": manifest.name,
        "target": manifest.target,
        "link": _link_reports(args.link_report),
        "archs": {},
    }
    for arch, path in _pairs(args.images):
        with open_source(path) as source:
            try:
                made = check_image(arch, source, manifest, faults)
                report["archs"][_key(arch, made["kind"])] = made
            except FatcrateError as error:
                faults.absorb(error)
    for arch, path in _pairs(args.assemble_report):
        entry = report["archs"].get(str(arch))
        if entry is not None:
            _add_assemble(entry, load_json(path))
    faults.check()
    write_text(args.report, json.dumps(report, indent=2, sort_keys=True) + "\n")
    return 0


def _link_reports(paths: Sequence[str]) -> Any:
    """LINK's report; partition -> report where there are several."""
    reports = [load_json(path) for path in paths]
    if len(reports) < 2:
        return reports[0] if reports else None
    return {
        report.get("name", path) if isinstance(report, dict) else path: report
        for path, report in zip(paths, reports, strict=True)
    }


def _add_assemble(entry: dict[str, Any], report: Any) -> None:
    """Adds ASSEMBLE's report to an arch's entry; kernels and warnings of partitions are joined."""
    known = entry.setdefault("assemble", report)
    if known is not report and isinstance(known, dict) and isinstance(report, dict):
        for key in ("kernels", "warnings"):
            known[key] = [*known.get(key, []), *report.get(key, [])]


def _key(arch: Arch, kind: str) -> str:
    """The image's key in the report: PTX is listed as compute_NN, whatever it was called."""
    return str(arch).replace("sm_", "compute_") if kind == "ptx" else str(arch)


def _pairs(items: Sequence[str]) -> list[tuple[Arch, str]]:
    made: list[tuple[Arch, str]] = []
    for item in items:
        text, equals, path = item.partition("=")
        if not equals or not path:
            fail(errors.USAGE, item, "is not of the form ARCH=FILE")
        made.append((parse_one(text), path))
    return made


def load_json(path: str) -> Any:
    """A JSON file. Raises FC0505 for one that is none."""
    with open(path, "rb") as stream:
        data = stream.read()
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        fail(
            errors.BAD_REPORT,
            path,
            f"is not JSON: {error}",
            remedy="build the target again",
            location=Location(path),
        )


def check_image(
    arch: Arch, source: Source, manifest: Manifest, faults: Collector
) -> dict[str, Any]:
    """Checks one image; returns its part of the report."""
    kind, found_arch, found, objects = _read(source)
    if found_arch.target_cpu != arch.target_cpu:
        faults.add(
            Diagnostic(
                errors.WRONG_IMAGE,
                source.name,
                f"is {kind} for {found_arch}, not for {arch}",
                "build the image again for the arch that it is listed under",
            )
        )
    _compare_kernels(arch, kind, source.name, found, manifest, faults)
    if objects is not None:
        _compare_statics(arch, source.name, objects, manifest, faults)
    return {
        "kind": kind,
        "size": source.size,
        "kernels": [kernel_json(k) for k in sorted(found, key=lambda k: k.name)],
    }


def kernel_json(kernel: KernelInfo) -> dict[str, Any]:
    """A kernel's resources as JSON; what the image does not tell is left out."""
    made: dict[str, Any] = {"name": kernel.name}
    for name in ("registers", "shared_bytes", "stack_bytes", "constant_bytes", "barriers"):
        value = getattr(kernel, name)
        if value is not None:
            made[name] = value
    if kernel.code_bytes is not None:
        made["code_bytes"] = kernel.code_bytes
    for name in ("max_threads", "required_threads", "cluster"):
        if getattr(kernel, name):
            made[name] = getattr(kernel, name)
    made.update({key: value for key, value in kernel.more.items() if value is not None})
    made["params"] = [
        {k: v for k, v in dataclasses.asdict(p).items() if v != ""} for p in kernel.params
    ]
    return made


def _read(source: Source) -> tuple[str, Arch, list[KernelInfo], dict[str, int] | None]:
    kind = packer.sniff(source) if source.size else ""
    if kind == "cubin":
        made = cubin.read(source)
        return "cubin", made.arch, kernels.of_cubin(made), made.objects
    if kind == "ptx":
        text = ptx.read(source.all(), source.name)
        if not text.complete:
            fail(errors.BAD_PTX, source.name, "is cut off: its braces do not balance")
        return "ptx", text.arch, kernels.of_ptx(text), None
    if source.starts_with(b"\x7fELF"):
        code = codeobject.read(source)
        return (
            "hsaco",
            parse_one(code.target.split(":")[0]),
            kernels.of_code_object(code),
            None,
        )
    fail(errors.NOT_RECOGNISED, source.name, "is neither PTX, a cubin nor a code object")


def _compare_kernels(
    arch: Arch,
    kind: str,
    file: str,
    found: Sequence[KernelInfo],
    manifest: Manifest,
    faults: Collector,
) -> None:
    present = {k.name: k for k in found}
    for wanted in manifest.kernels:
        kernel = present.get(wanted.name)
        if kernel is None:
            faults.add(
                Diagnostic(
                    errors.LOST_KERNEL,
                    wanted.name,
                    f"is missing from the {kind} for {arch}",
                    "clean the output folder and build again; if it stays, report it",
                    Location(file),
                    (f"the kernel comes from crate {wanted.crate}",),
                )
            )
            continue
        _compare_parameters(arch, kind, file, kernel, wanted, faults)
        _compare_bounds(arch, kind, file, kernel, wanted, faults)
    expected = {k.name for k in manifest.kernels}
    for name in sorted(set(present) - expected):
        faults.add(
            Diagnostic(
                errors.EXTRA_KERNEL,
                name,
                f"is in the {kind} for {arch}, but not in the manifest",
                "build manifest and images from the same sources",
                Location(file),
            )
        )


def _compare_parameters(
    arch: Arch, kind: str, file: str, kernel: KernelInfo, wanted: Kernel, faults: Collector
) -> None:
    have = [_described(p) for p in kernel.params]
    want = [
        _described(KernelParameter(p.ordinal, p.offset, p.size), p.name) for p in wanted.parameters
    ]
    notes = (f"the manifest has ({', '.join(want)})", f"the image has ({', '.join(have)})")

    def differ(what: str) -> None:
        faults.add(
            Diagnostic(
                errors.PARAMETER_MISMATCH,
                wanted.name,
                f"{what} in the {kind} for {arch}",
                "build manifest and images from the same sources",
                Location(file),
                notes,
            )
        )

    if len(kernel.params) != len(wanted.parameters):
        differ(f"has {len(kernel.params)} parameters instead of {len(wanted.parameters)}")
        return
    for a, b in zip(kernel.params, wanted.parameters, strict=True):
        label = f"parameter {b.ordinal}" + (f" ({b.name})" if b.name else "")
        if (a.ordinal, a.offset, a.size) != (b.ordinal, b.offset, b.size):
            differ(f"{label} is {_described(a)} instead of {b.size} bytes at {b.offset}")
        elif not _class_agrees(a, b):
            differ(f"{label} has PTX type .{a.kind}{a.size * 8}, but is {b.cls}")


def _described(p: KernelParameter, name: str = "") -> str:
    text = f"{p.size} bytes at {p.offset}"
    return f"{name}: {text}" if name else text


def _class_agrees(found: KernelParameter, wanted: Parameter) -> bool:
    """PTX types against machine classes; bit types (.b16 for f16 too) fit any."""
    if found.kind in ("", "b"):
        return True
    return (found.kind == "f") == (wanted.cls == "float")


def _compare_bounds(
    arch: Arch, kind: str, file: str, kernel: KernelInfo, wanted: Kernel, faults: Collector
) -> None:
    pairs = (
        ("largest block", kernel.max_threads or kernel.required_threads, wanted.max_threads),
        ("cluster shape", kernel.cluster, wanted.cluster),
    )
    for what, have, want in pairs:
        if want and have and _three(have) != _three(want):
            faults.add(
                Diagnostic(
                    errors.LAUNCH_MISMATCH,
                    wanted.name,
                    f"has {what} {_three(have)} instead of {_three(want)} in the {kind} for {arch}",
                    "build manifest and images from the same sources",
                    Location(file),
                )
            )


def _three(numbers: Sequence[int]) -> tuple[int, ...]:
    return (*numbers, 1, 1, 1)[:3]


def _compare_statics(
    arch: Arch, file: str, objects: dict[str, int], manifest: Manifest, faults: Collector
) -> None:
    for static in manifest.statics:
        size = objects.get(static.name)
        if size != static.size:
            found = "is missing from" if size is None else f"has {size} bytes in"
            faults.add(
                Diagnostic(
                    errors.LOST_STATIC,
                    static.name,
                    f"{found} the cubin for {arch}; the manifest has {static.size} bytes",
                    "build manifest and images from the same sources",
                    Location(file),
                )
            )

"""``fatcrate select``: the image that a device would use, and why."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import sys
from typing import Any, Final

from fatcrate.fatbin import describe, errors, hostfile
from fatcrate.fatbin.model import Fatbin
from fatcrate.fatbin.select import DEVICES, Selection, candidate, choose, dotted
from fatcrate.fatbin.source import open_source
from fatcrate.toolchain.arch import SPELLINGS, parse_one
from fatcrate.toolchain.diagnostics import FatcrateError, fail
from fatcrate.toolchain.usage import formatter

_DEVICE: Final = re.compile(r"(?:sm_)?([1-9][0-9]{1,2})[af]?|([1-9][0-9]?)\.([0-9])[af]?")

_EPILOG = """\
A device is a chip: sm_90, sm_90a and 9.0 name the same one, which runs sm_90a code too.

verdicts:
  measured      nvJitLink, NVIDIA's linker, selects so
  documented    NVIDIA's guides say so; nvJitLink 13 no longer knows the device
  contradicted  measured, but guides or reports tell something else

examples:
  fatcrate select k.fatbin
  fatcrate select --device sm_89 libkernels.so
  fatcrate select --device 10.3 --exact --json k.fatbin
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate select``."""
    made = argparse.ArgumentParser(
        prog="fatcrate select",
        description="Say which image of a file a device would use; without --device, a table"
        " of all known devices.",
        epilog=_EPILOG,
        formatter_class=formatter,
    )
    made.add_argument("file", metavar="FILE")
    made.add_argument("--device", metavar="D", help="a device, such as sm_89 or 8.9")
    made.add_argument("--exact", action="store_true", help="demand a cubin of the device's SM")
    made.add_argument("--json", action="store_true", help="write JSON")
    return made


def main(argv: list[str]) -> int:
    """Runs ``fatcrate select``. Raises FC0412 when the device named has no image."""
    args = parser().parse_args(argv)
    device = parse_device(args.device) if args.device else None
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(open_source(args.file))
        containers = [f for m in hostfile.modules(source, stack) for f in m.fatbins]
        if not containers:
            fail(errors.NOT_RECOGNISED, args.file, "holds no device code")
        if device is None:
            return _all_devices(args, containers)
        return _one_device(args, containers, device)


def parse_device(text: str) -> int:
    """The compute capability times ten of ``sm_89``, ``8.9`` or ``9.0a``."""
    match = _DEVICE.fullmatch(text)
    if match is None:
        try:
            arch = parse_one(text)
        except FatcrateError:
            arch = None
        what = "is no NVIDIA device" if arch is not None else "is not a device"
        fail(errors.USAGE, text, what, remedy=f"write it like one of: {SPELLINGS}")
    number = int(match[1]) if match[1] else int(match[2]) * 10 + int(match[3])
    if number not in DEVICES:
        known = ", ".join(map(dotted, DEVICES))
        fail(errors.USAGE, text, "is no device that fatcrate knows", remedy=f"devices: {known}")
    return number


def _choose(fatbin: Fatbin, device: int, exact: bool) -> Selection:
    return choose([candidate(i) for i in fatbin.images], device, exact=exact)


def _as_json(fatbin: Fatbin, number: int, made: Selection) -> dict[str, Any]:
    image = fatbin.images[made.index] if made.index is not None else None
    return {
        "fatbin": number,
        "device": dotted(made.device),
        "image": None if image is None else {"kind": image.kind, "arch": str(image.arch)},
        "reason": made.reason,
        "verdict": made.verdict,
    }


def _one_device(args: argparse.Namespace, containers: list[Fatbin], device: int) -> int:
    """One container gives one JSON object; several give the first with a list of all."""
    made = [
        _as_json(fatbin, number, _choose(fatbin, device, args.exact))
        for number, fatbin in enumerate(containers, 1)
    ]
    if args.json:
        document = {k: v for k, v in made[0].items() if k != "fatbin"}
        if len(made) > 1:
            document["fatbins"] = made
        json.dump(document, sys.stdout, indent=2, sort_keys=True)
        print()
    else:
        for item in made:
            prefix = f"{item['fatbin']}: " if len(made) > 1 else ""
            print(f"{prefix}{_named(item)}: {item['reason']} ({item['verdict']})")
    lost = [item for item in made if item["image"] is None]
    if lost:
        sys.stdout.flush()
        which = f" in {len(lost)} of {len(made)} containers" if len(made) > 1 else ""
        fail(
            errors.NO_IMAGE,
            args.file,
            f"has no image for device {dotted(device)}{which}",
            remedy=f"add a cubin for sm_{device}, or PTX for compute_{device} or older",
        )
    return 0


def _named(item: dict[str, Any]) -> str:
    image = item["image"]
    return "no image" if image is None else f"{image['kind']} {image['arch']}"


def _all_devices(args: argparse.Namespace, containers: list[Fatbin]) -> int:
    everything = [
        [_as_json(fatbin, number, _choose(fatbin, device, args.exact)) for device in DEVICES]
        for number, fatbin in enumerate(containers, 1)
    ]
    if args.json:
        document: dict[str, Any] = {"devices": [_plain(i) for i in everything[0]]}
        if len(everything) > 1:
            document["fatbins"] = [[_plain(i) for i in items] for items in everything]
        json.dump(document, sys.stdout, indent=2, sort_keys=True)
        print()
        return 0
    for number, items in enumerate(everything, 1):
        if len(everything) > 1:
            print(f"{number}:")
        rows = [[i["device"], _named(i), i["verdict"], i["reason"]] for i in items]
        print("\n".join(describe.table(["device", "image", "verdict", "reason"], rows)))
    return 0


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in item.items() if k != "fatbin"}

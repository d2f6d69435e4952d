"""A file's device code as data (for ``--json``) and as text."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from fatcrate.fatbin import kernels
from fatcrate.fatbin.kernels import KernelInfo
from fatcrate.fatbin.model import Fatbin, Image, Module
from fatcrate.toolchain.diagnostics import Diagnostic, FatcrateError

JSON_VERSION = 1


@dataclasses.dataclass
class Options:
    """What to find out: kernels need every image decompressed and parsed."""

    kernels: bool = True
    digests: bool = True


@dataclasses.dataclass
class Description:
    """A described file. ``faults`` are images that could not be read."""

    document: dict[str, Any]
    faults: list[Diagnostic]


def describe(file: str, found: Iterable[Module], options: Options) -> Description:
    """Describes all containers of a file, reading one image at a time."""
    faults: list[Diagnostic] = []
    members: list[dict[str, Any]] = []
    fatbins: list[dict[str, Any]] = []
    seen: dict[str, str] = {}
    for module in found:
        if module.notes or module.fatbins:
            members.append(
                {
                    "name": module.name,
                    "format": module.format,
                    "machine": module.machine or None,
                    "notes": module.notes,
                    "fatbins": len(module.fatbins),
                }
            )
        for fatbin in module.fatbins:
            made = _fatbin(module, fatbin, options, faults)
            _mark_duplicates(made, len(fatbins), seen)
            fatbins.append(made)
    document = {
        "version": JSON_VERSION,
        "file": file,
        "modules": members,
        "fatbins": fatbins,
        "totals": _totals(fatbins),
    }
    return Description(document, faults)


def _fatbin(
    module: Module, fatbin: Fatbin, options: Options, faults: list[Diagnostic]
) -> dict[str, Any]:
    images = []
    for image in fatbin.images:
        try:
            images.append(_image(image, options))
        except FatcrateError as error:
            faults.extend(error.diagnostics)
            images.append({**_head(image), "kernels": [], "error": str(error)})
        image.release()
    return {
        "module": module.name,
        "format": fatbin.format,
        "section": fatbin.section or None,
        "offset": fatbin.source.location(fatbin.offset).offset,
        "size": fatbin.size,
        "images": images,
    }


def _head(image: Image) -> dict[str, Any]:
    made: dict[str, Any] = {
        "kind": image.kind,
        "arch": str(image.arch) if image.arch else None,
        "size": image.size,
        "stored_size": image.stored_size,
        "compression": image.method,
        "identifier": image.identifier,
        "offset": image.source.location(image.offset).offset,
        "flags": image.flags,
        "debug": image.debug,
    }
    if image.kind == "ptx":
        made["version"] = f"{image.version[0]}.{image.version[1]}"
    if image.options is not None:
        made["options"] = image.options
    if image.target:
        made["target"] = image.target
    return made


def _image(image: Image, options: Options) -> dict[str, Any]:
    made = _head(image)
    readable = image.kind in ("cubin", "ptx", "hsaco") and not image.encoded
    if not readable or not (options.kernels or options.digests):
        made["kernels"] = []
        return made
    payload = image.payload
    if options.digests:
        made["sha256"] = hashlib.sha256(payload).hexdigest()
    if options.kernels:
        details, found = kernels.details(image)
        made.update(details)
        made["kernels"] = [kernel_json(k) for k in found]
    return made


def kernel_json(kernel: KernelInfo) -> dict[str, Any]:
    """One kernel; numbers are null where the image does not tell."""
    made: dict[str, Any] = {
        "name": kernel.name,
        "registers": kernel.registers,
        "shared_bytes": kernel.shared_bytes,
        "stack_bytes": kernel.stack_bytes,
        "constant_bytes": kernel.constant_bytes,
        "barriers": kernel.barriers,
        "code_bytes": kernel.code_bytes,
        "max_threads": kernel.max_threads,
        "required_threads": kernel.required_threads,
        "cluster": kernel.cluster,
        "params": [
            {k: v for k, v in vars(p).items() if v != "" or k in ("ordinal", "offset", "size")}
            for p in kernel.params
        ],
    }
    made.update(kernel.more)
    return made


def _mark_duplicates(fatbin: dict[str, Any], number: int, seen: dict[str, str]) -> None:
    """Notes images whose bytes were seen before in this file."""
    for position, image in enumerate(fatbin["images"]):
        digest = image.get("sha256")
        if digest is None:
            continue
        here = f"fatbin {number + 1}, image {position + 1}"
        if digest in seen:
            image["duplicate_of"] = seen[digest]
        seen.setdefault(digest, here)


def _totals(fatbins: list[dict[str, Any]]) -> dict[str, Any]:
    images = [image for fatbin in fatbins for image in fatbin["images"]]
    return {
        "fatbins": len(fatbins),
        "images": len(images),
        "kernels": sum(len(i["kernels"]) for i in images),
        "size": sum(i["size"] for i in images),
        "stored_size": sum(i["stored_size"] for i in images),
        "duplicate_bytes": sum(i["stored_size"] for i in images if "duplicate_of" in i),
    }


def text(document: dict[str, Any], *, with_kernels: bool) -> Iterator[str]:
    """The lines of the plain listing: one table of images, or of kernels per image."""
    totals = document["totals"]
    yield f"{document['file']}: {_count(totals['fatbins'], 'container')}, " + ", ".join(
        [
            _count(totals["images"], "image"),
            f"{size(totals['stored_size'])} stored, {size(totals['size'])} unpacked",
        ]
    )
    for module in document["modules"]:
        for note in module["notes"]:
            yield f"note: {module['name']}: {note}"
    for number, fatbin in enumerate(document["fatbins"], 1):
        where = f" in {fatbin['section']}" if fatbin["section"] else ""
        name = fatbin["module"]
        member = f" of {name}" if name != document["file"] else ""
        yield ""
        yield f"{number}: {fatbin['format']}{where}{member}, offset {fatbin['offset']:#x}"
        yield from table(
            ["image", "arch", "size", "stored", "compression", "kernels", ""],
            [
                [
                    image["kind"],
                    image["arch"] or image.get("target", "-"),
                    size(image["size"]),
                    size(image["stored_size"]),
                    image["compression"],
                    str(len(image["kernels"])),
                    _remark(image),
                ]
                for image in fatbin["images"]
            ],
        )
        if with_kernels:
            for image in fatbin["images"]:
                yield from _kernel_table(image)


def _remark(image: dict[str, Any]) -> str:
    parts = [image["identifier"]] if image["identifier"] else []
    if "version" in image:
        parts.append(f"PTX {image['version']}")
    if "duplicate_of" in image:
        parts.append(f"same as {image['duplicate_of']}")
    if image["debug"]:
        parts.append("debug")
    if "error" in image:
        parts.append("damaged")
    return ", ".join(parts)


def _kernel_table(image: dict[str, Any]) -> Iterator[str]:
    if not image["kernels"]:
        return
    yield ""
    yield f"   {image['kind']} {image['arch']}"
    yield from table(
        ["kernel", "registers", "shared", "stack", "constant", "parameters"],
        [
            [
                kernel["name"],
                _number(kernel["registers"]),
                _number(kernel["shared_bytes"]),
                _number(kernel["stack_bytes"]),
                _number(kernel["constant_bytes"]),
                " ".join(f"{p['size']}@{p['offset']}" for p in kernel["params"]),
            ]
            for kernel in image["kernels"]
        ],
        indent="     ",
    )


def table(head: list[str], rows: list[list[str]], indent: str = "   ") -> Iterator[str]:
    """Columns padded to their widest cell."""
    everything = [head, *rows]
    widths = [max(len(row[i]) for row in everything) for i in range(len(head))]
    for row in everything:
        yield (indent + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True))).rstrip()


def size(number: int) -> str:
    """Bytes for people: ``1.4 MB``."""
    if number < 10_000:
        return f"{number} B"
    value = float(number)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 1000 or unit == "GB":
            break
    return f"{value:.1f} {unit}"


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

"""A file's device code as data (for ``--json``) and as text."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from fatcrate.fatbin import errors, kernels, parallel, usage
from fatcrate.fatbin.kernels import KernelInfo
from fatcrate.fatbin.model import Fatbin, Image, Module
from fatcrate.toolchain.diagnostics import Diagnostic, FatcrateError

JSON_VERSION = 1

#: How much of each image is read: kernels as data, as a table, without their parameters
#: (and PTX unopened), or only counted.
Detail = Literal["data", "table", "resources", "count"]


@dataclasses.dataclass
class Description:
    """A described file. ``faults`` are images that could not be read."""

    document: dict[str, Any]
    faults: list[Diagnostic]


def describe(file: str, found: Iterable[Module], detail: Detail = "data") -> Description:
    """Describes all containers of a file, holding one image at a time per process."""
    modules = list(found)
    images = [i for module in modules for fatbin in module.fatbins for i in fatbin.images]
    described = parallel.map_images(functools.partial(_image, detail=detail), images)
    faults: list[Diagnostic] = []
    fatbins = [
        _fatbin(module, fatbin, described, faults)
        for module in modules
        for fatbin in module.fatbins
    ]
    if detail != "resources":
        _mark_duplicates(images, fatbins)
    document = {
        "version": JSON_VERSION,
        "file": file,
        "modules": [
            {
                "name": module.name,
                "format": module.format,
                "machine": module.machine or None,
                "notes": module.notes,
                "fatbins": len(module.fatbins),
            }
            for module in modules
            if module.notes or module.fatbins
        ],
        "fatbins": fatbins,
        "totals": _totals(fatbins),
    }
    return Description(document, faults)


def _fatbin(
    module: Module, fatbin: Fatbin, described: Iterator[Any], faults: list[Diagnostic]
) -> dict[str, Any]:
    images = [next(described) for _ in fatbin.images]
    for image, made in zip(fatbin.images, images, strict=True):
        if "error" in made:
            where = image.source.location(image.offset)
            faults.append(Diagnostic(errors.BAD_IMAGE, image.label, made["error"], location=where))
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


def _image(image: Image, detail: Detail) -> dict[str, Any]:
    made = _head(image)
    made["kernels"] = []
    made["kernel_count"] = 0
    opened = ("cubin", "hsaco") if detail == "resources" else ("cubin", "ptx", "hsaco")
    if detail == "resources" and image.kind == "cubin" and _quick(image, made):
        return made
    if image.kind not in opened or image.encoded:
        return made
    try:
        details, found = kernels.details(image, resources_only=detail in ("resources", "count"))
    except FatcrateError as error:
        made["error"] = "; ".join(d.message for d in error.diagnostics)
        return made
    made.update(details)
    made["kernel_count"] = len(found)
    if detail == "data":
        made["kernels"] = [kernel_json(k) for k in found]
    elif detail != "count" and found:
        made["table"] = "\n".join(_kernel_table(found, with_parameters=detail == "table"))
    return made


def _quick(image: Image, made: dict[str, Any]) -> bool:
    """Adds the table of resources in the quick way; false when that does not do."""
    try:
        found = usage.of_kernels(bytes(image.payload))
    except FatcrateError:
        return False  # the slow way has the message
    if found is None:
        return False
    made["kernel_count"] = len(found)
    if found:
        rows = [[name, *map(_number, numbers)] for name, *numbers in found]
        made["table"] = "\n".join(table(_RESOURCES, rows, indent="     "))
    return True


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


def _mark_duplicates(images: Sequence[Image], fatbins: list[dict[str, Any]]) -> None:
    """Notes images whose stored bytes were seen before in this file.

    Only images of equal kind and sizes are read and compared by digest.
    """
    made = [(f"fatbin {n}, image {i}", image)
            for n, fatbin in enumerate(fatbins, 1)
            for i, image in enumerate(fatbin["images"], 1)]  # fmt: skip
    groups: dict[tuple[str, str, int, int], list[int]] = {}
    for index, image in enumerate(images):
        if image.stored_size and not image.grouped:
            key = (image.kind, image.method, image.size, image.stored_size)
            groups.setdefault(key, []).append(index)
    for members in groups.values():
        seen: dict[bytes, str] = {}
        for index in members if len(members) > 1 else ():
            digest = hashlib.sha256(images[index].stored()).digest()
            where, described = made[index]
            if digest in seen:
                described["duplicate_of"] = seen[digest]
            seen.setdefault(digest, where)


def _totals(fatbins: list[dict[str, Any]]) -> dict[str, Any]:
    images = [image for fatbin in fatbins for image in fatbin["images"]]
    return {
        "fatbins": len(fatbins),
        "images": len(images),
        "kernels": sum(i["kernel_count"] for i in images),
        "size": sum(i["size"] for i in images),
        "stored_size": sum(i["stored_size"] for i in images),
        "duplicate_bytes": sum(i["stored_size"] for i in images if "duplicate_of" in i),
    }


def text(document: dict[str, Any]) -> Iterator[str]:
    """The lines of the plain listing: a table of images per container, and their kernels'."""
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
                    str(image["kernel_count"]),
                    _remark(image),
                ]
                for image in fatbin["images"]
            ],
        )
        for image in fatbin["images"]:
            if "table" in image:
                yield ""
                yield f"   {image['kind']} {image['arch'] or image['target']}"
                yield image["table"]


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


_RESOURCES = ["kernel", "registers", "shared", "stack", "constant"]


def _kernel_table(found: list[KernelInfo], *, with_parameters: bool) -> Iterator[str]:
    head = list(_RESOURCES)
    rows = [
        [
            kernel.name,
            _number(kernel.registers),
            _number(kernel.shared_bytes),
            "unknown" if kernel.more.get("recursive") else _number(kernel.stack_bytes),
            _number(kernel.constant_bytes),
        ]
        for kernel in found
    ]
    if with_parameters:
        head.append("parameters")
        for row, kernel in zip(rows, found, strict=True):
            row.append(" ".join(f"{p.size}@{p.offset}" for p in kernel.params))
    return table(head, rows, indent="     ")


def table(head: list[str], rows: list[list[str]], indent: str = "   ") -> Iterator[str]:
    """Columns padded to their widest cell."""
    everything = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*everything, strict=True)]
    form = indent + "  ".join(f"%-{width}s" for width in widths)
    for row in everything:
        yield (form % tuple(row)).rstrip()


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

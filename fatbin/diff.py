"""What changed between the device code of two files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from fatcrate.fatbin.describe import size

_RESOURCES: Final = ("registers", "shared_bytes", "stack_bytes", "constant_bytes")
_LABELS: Final = {
    "registers": "registers",
    "shared_bytes": "shared",
    "stack_bytes": "stack",
    "constant_bytes": "constant",
    "params": "parameters",
}


def compare(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The differences of two documents of ``describe``.

    Images are matched by kind and arch, kernels by name within them.
    """
    before, after = _kernels(old), _kernels(new)
    archs_before, archs_after = _archs(old), _archs(new)
    changed = []
    for key in sorted(before.keys() & after.keys()):
        fields = _changes(before[key], after[key])
        if fields:
            changed.append({"arch": key[0], "kernel": key[1], "changes": fields})
    return {
        "old": old["file"],
        "new": new["file"],
        "archs_added": sorted(archs_after.keys() - archs_before.keys()),
        "archs_removed": sorted(archs_before.keys() - archs_after.keys()),
        "sizes": [
            {"arch": arch, "old": archs_before[arch], "new": archs_after[arch]}
            for arch in sorted(archs_before.keys() & archs_after.keys())
            if archs_before[arch] != archs_after[arch]
        ],
        "kernels_added": _gone(after, before, archs_before),
        "kernels_removed": _gone(before, after, archs_after),
        "kernels_changed": changed,
        "stored_size": {
            "old": old["totals"]["stored_size"],
            "new": new["totals"]["stored_size"],
        },
    }


def _archs(document: dict[str, Any]) -> dict[str, int]:
    """Kind and arch of the images, with their unpacked bytes."""
    made: dict[str, int] = {}
    for fatbin in document["fatbins"]:
        for image in fatbin["images"]:
            key = _key(image)
            made[key] = made.get(key, 0) + image["size"]
    return made


def _key(image: dict[str, Any]) -> str:
    return f"{image['kind']} {image['arch'] or image.get('target', '-')}"


def _kernels(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (_key(image), kernel["name"]): kernel
        for fatbin in document["fatbins"]
        for image in fatbin["images"]
        for kernel in image["kernels"]
    }


def _gone(
    these: dict[tuple[str, str], dict[str, Any]],
    those: dict[tuple[str, str], dict[str, Any]],
    archs: dict[str, int],
) -> list[dict[str, str]]:
    """Kernels of ``these`` that ``those`` lack, in archs that both have."""
    return [
        {"arch": arch, "kernel": name}
        for arch, name in sorted(these.keys() - those.keys())
        if arch in archs
    ]


def _changes(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {
        name: {"old": old[name], "new": new[name]} for name in _RESOURCES if old[name] != new[name]
    }
    shapes = [[(p["offset"], p["size"]) for p in kernel["params"]] for kernel in (old, new)]
    if shapes[0] != shapes[1]:
        made["params"] = {
            "old": " ".join(f"{s}@{o}" for o, s in shapes[0]),
            "new": " ".join(f"{s}@{o}" for o, s in shapes[1]),
        }
    return made


def text(made: dict[str, Any]) -> Iterator[str]:
    """The differences as lines; one line when there are none."""
    lines = [f"+ {arch}" for arch in made["archs_added"]]
    lines += [f"- {arch}" for arch in made["archs_removed"]]
    lines += [f"~ {s['arch']}: {size(s['old'])} -> {size(s['new'])}" for s in made["sizes"]]
    lines += [f"+ {k['arch']}: kernel {k['kernel']}" for k in made["kernels_added"]]
    lines += [f"- {k['arch']}: kernel {k['kernel']}" for k in made["kernels_removed"]]
    for item in made["kernels_changed"]:
        parts = [
            f"{_LABELS[name]} {change['old']} -> {change['new']}"
            for name, change in item["changes"].items()
        ]
        lines.append(f"~ {item['arch']}: kernel {item['kernel']}: {', '.join(parts)}")
    sizes = made["stored_size"]
    yield f"{made['old']} -> {made['new']}"
    yield from lines or ["no difference in architectures, kernels, resources and sizes"]
    yield f"stored: {size(sizes['old'])} -> {size(sizes['new'])}"

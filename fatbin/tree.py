"""The listings of ``inspect`` beside the plain one: a tree, and disassembly."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from fatcrate.fatbin import errors, extract
from fatcrate.fatbin.describe import size
from fatcrate.fatbin.model import Module
from fatcrate.toolchain import locate
from fatcrate.toolchain.diagnostics import fail


def lines(document: dict[str, Any]) -> Iterator[str]:
    """File, containers, images and kernels as a tree."""
    yield document["file"]
    fatbins = document["fatbins"]
    for number, fatbin in enumerate(fatbins, 1):
        last = number == len(fatbins)
        where = f" in {fatbin['section']}" if fatbin["section"] else ""
        member = "" if fatbin["module"] == document["file"] else f" of {fatbin['module']}"
        yield f"{_branch(last)}{fatbin['format']} {number}{where}{member}, {size(fatbin['size'])}"
        yield from _images(fatbin["images"], "   " if last else "│  ")


def _branch(last: bool) -> str:
    return "└─ " if last else "├─ "


def _images(images: list[dict[str, Any]], indent: str) -> Iterator[str]:
    for position, image in enumerate(images, 1):
        last = position == len(images)
        stored = ""
        if image["compression"] != "none":
            stored = f", {image['compression']} {size(image['stored_size'])}"
        name = image["arch"] or image.get("target", "-")
        yield f"{indent}{_branch(last)}{image['kind']} {name}, {size(image['size'])}{stored}"
        below = indent + ("   " if last else "│  ")
        kernels = image["kernels"]
        for index, kernel in enumerate(kernels, 1):
            yield f"{below}{_branch(index == len(kernels))}{_kernel(kernel)}"


def _kernel(kernel: dict[str, Any]) -> str:
    parts = [
        f"{label} {kernel[name]}"
        for name, label in (
            ("registers", "registers"),
            ("shared_bytes", "shared"),
            ("stack_bytes", "stack"),
        )
        if kernel[name]
    ]
    if kernel.get("recursive"):
        parts.append("stack unknown: recursive")
    return str(kernel["name"]) + (f" ({', '.join(parts)})" if parts else "")


def disassembly(modules: list[Module], nvdisasm: str) -> Iterator[str]:
    """nvdisasm's text of each cubin. Raises FC0418 for a cubin that it refuses."""
    for module in modules:
        for fatbin in module.fatbins:
            for image in fatbin.images:
                if image.kind == "cubin":
                    yield f"// {module.name}: {image.label}"
                    yield _disassembled(extract.contents(image), image.label, nvdisasm)
                    image.release()


def _disassembled(cubin: bytes, label: str, nvdisasm: str) -> str:
    with tempfile.NamedTemporaryFile(suffix=".cubin") as scratch:
        scratch.write(cubin)
        scratch.flush()
        done = subprocess.run(
            [nvdisasm, "-c", scratch.name],
            capture_output=True,
            text=True,
            errors="backslashreplace",
            stdin=subprocess.DEVNULL,
            check=False,
        )
    if done.returncode != 0:
        fail(
            errors.BAD_IMAGE,
            label,
            f"is refused by nvdisasm: {done.stderr.strip()}",
            remedy="take the nvdisasm of a newer CUDA toolkit",
        )
    text: str = done.stdout
    return text


def find_nvdisasm(environ: Mapping[str, str]) -> str:
    """The path of nvdisasm: from the wheels or toolkits that builds use, or from PATH.

    Raises FC0416 when there is none.
    """
    request = locate.Request.from_environment(environ)
    watch = locate.Watch()
    for root in locate.cuda_roots(watch, request):
        path = str(root.binaries) + "/nvdisasm"
        if os.path.isfile(path):
            return path
    for folder in environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, "nvdisasm")
        if folder and os.access(path, os.X_OK):
            return path
    fail(
        errors.TOOL_MISSING,
        "nvdisasm",
        "is not installed",
        remedy="pip install nvidia-cuda-nvdisasm, or name it with --nvdisasm",
    )

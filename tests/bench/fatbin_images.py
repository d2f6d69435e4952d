"""The images that benchmarks of containers work on: from NVIDIA's random number library."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from fatcrate.fatbin import extract, hostfile
from fatcrate.fatbin.source import open_source
from support import wheels


@dataclass(frozen=True)
class Item:
    """One image; ``arch`` as nvFatbin spells it, such as ``90``."""

    kind: str
    arch: str
    data: bytes


@functools.cache
def items() -> tuple[Item, ...]:
    """Eight cubins of 0.8 to 1.8 MB and the eight PTX texts that go with them."""
    (library,) = wheels.libraries("nvidia-curand")
    made = []
    with open_source(library) as source:
        first = hostfile.module(source).fatbins[0]
        for image in first.images:
            assert image.arch is not None
            number = str(image.arch).partition("_")[2]
            made.append(Item(image.kind, number, extract.contents(image)))
    cubins = [i for i in made if i.kind == "cubin"][:8]
    texts = [i for i in made if i.kind == "ptx"][:8]
    return (*cubins, *texts)


def cubins() -> list[Item]:
    """The eight cubins."""
    return [item for item in items() if item.kind == "cubin"]


def write(folder: Path, chosen: list[Item]) -> list[str]:
    """Writes the images; returns their file names in order."""
    names = []
    for item in chosen:
        name = f"{item.arch}.{item.kind}"
        (folder / name).write_bytes(item.data)
        names.append(name)
    return names

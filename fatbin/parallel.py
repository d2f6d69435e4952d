"""Runs a function over the images of a large file in forked processes."""

from __future__ import annotations

import marshal
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fatcrate.fatbin.model import Image

#: Below this many stored bytes a second process costs more than it saves.
_THRESHOLD = 24 << 20
_CHUNK = 4 << 20

_work: tuple[Callable[[Image], Any], Sequence[Image]] | None = None


def map_images(function: Callable[[Image], Any], images: Sequence[Image]) -> Iterator[Any]:
    """``function`` of each image, in order; results are of built-in types.

    Each image is released after its turn. Small inputs, and machines with one processor,
    take no second process.
    """
    workers = min(len(os.sched_getaffinity(0)), 8)
    if workers < 2 or sum(image.stored_size for image in images) < _THRESHOLD:
        for image in images:
            yield _one(function, image)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    global _work
    _work = (function, images)
    try:
        context = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            for packed in pool.map(_chunk, list(_chunks(images))):
                yield from marshal.loads(packed)
    finally:
        _work = None


def _chunks(images: Sequence[Image]) -> Iterator[tuple[int, int]]:
    """Ranges of images with about :data:`_CHUNK` stored bytes each."""
    start = weight = 0
    for index, image in enumerate(images):
        weight += image.stored_size
        if weight >= _CHUNK:
            yield start, index + 1
            start, weight = index + 1, 0
    if start < len(images):
        yield start, len(images)


def _chunk(span: tuple[int, int]) -> bytes:
    assert _work is not None
    function, images = _work
    return marshal.dumps([_one(function, image) for image in images[span[0] : span[1]]])


def _one(function: Callable[[Image], Any], image: Image) -> Any:
    try:
        return function(image)
    finally:
        image.release()

"""NVIDIA's libraries as oracles: nvFatbin packs, nvJitLink selects and links."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


def _libraries() -> Path:
    spec = importlib.util.find_spec("nvidia")
    assert spec is not None and spec.submodule_search_locations
    for root in spec.submodule_search_locations:
        found = sorted(Path(root).glob("cu*/lib"))
        if found:
            return found[-1]
    raise FileNotFoundError("NVIDIA's wheels are not installed")


@functools.cache
def _load(name: str) -> None:
    """Loads a library so that cuda-bindings finds it whatever the search path is."""
    ctypes.CDLL(str(sorted(_libraries().glob(name))[-1]), ctypes.RTLD_GLOBAL)


@dataclass(frozen=True)
class Item:
    """One image for nvFatbin; ``arch`` without prefix, such as ``90a``."""

    kind: str
    data: bytes
    arch: str
    ident: str = ""
    options: str = ""


def pack(items: Sequence[Item], options: Sequence[str] = ()) -> bytes:
    """The container that libnvfatbin makes. Raises its error for input that it refuses."""
    _load("libnvfatbin.so*")
    from cuda.bindings import nvfatbin

    handle = nvfatbin.create(list(options), len(options))
    try:
        for item in items:
            data = item.data
            if item.kind == "cubin":
                nvfatbin.add_cubin(handle, data, len(data), item.arch, item.ident)
            elif item.kind == "ptx":
                nvfatbin.add_ptx(handle, data, len(data), item.arch, item.ident, item.options)
            elif item.kind == "ltoir":
                nvfatbin.add_ltoir(handle, data, len(data), item.arch, item.ident, item.options)
            else:
                nvfatbin.add_tile_ir(handle, data, len(data), item.ident, item.options)
        made = bytearray(nvfatbin.size(handle))
        nvfatbin.get(handle, made)
        return bytes(made)
    finally:
        nvfatbin.destroy(handle)


def linked(fatbin: bytes, target: str) -> bytes | None:
    """The cubin that nvJitLink makes of a container for ``sm_90a``; None when it fails."""
    _load("libnvJitLink.so*")
    from cuda.bindings import nvjitlink

    handle = nvjitlink.create(1, [f"-arch={target}"])
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.FATBIN, fatbin, len(fatbin), "k.fatbin")
        nvjitlink.complete(handle)
        made = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, made)
        return bytes(made)
    except nvjitlink.nvJitLinkError:
        return None
    finally:
        nvjitlink.destroy(handle)

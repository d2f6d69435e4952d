"""The ABI manifest: what LINK promises and every later stage is checked against.

JSON, written with sorted keys and two-space indent; ``version`` is :data:`VERSION`. Sizes,
alignments and offsets are bytes. The reader refuses unknown versions and wrong types.
"""

import os
from typing import Any, NamedTuple

from fatcrate.toolchain import errors, schema

VERSION = 1

_NO_ITEMS: Any = []  # a default; nobody changes what a record holds


class Parameter(NamedTuple):
    """One machine parameter of a kernel, in order. ``cls`` is its machine class."""

    ordinal: int
    offset: int
    size: int
    align: int
    cls: str  # "int", "float", "pointer", "aggregate"
    name: str = ""  # empty when the IR does not tell
    rust_type: str = ""


class Kernel(NamedTuple):
    """One exported kernel."""

    name: str
    crate: str
    parameters: list[Parameter]
    rust_path: str = ""
    source: str = ""  # "file:line" when debug info is there
    static_shared: int = 0  # bytes LINK can see; the cubin may add reserved bytes
    uses_dynamic_shared: bool = False
    max_threads: list[int] = _NO_ITEMS  # x, y, z; empty: no bound
    cluster: list[int] = _NO_ITEMS
    required_features: list[str] = _NO_ITEMS
    min_arch: str = ""
    module: str = ""  # of a partitioned target: the partition whose module holds it


class DeviceStatic(NamedTuple):
    """A static that the host may look up by name in the loaded module."""

    name: str
    crate: str
    size: int
    align: int
    space: str  # "global", "constant"
    mutable: bool
    module: str = ""  # as for kernels


class Input(NamedTuple):
    """One file that went into the link, with its SHA-256; ``name`` has no directory."""

    name: str
    kind: str  # "crate", "sysroot", "libdevice", "primitives"
    sha256: str


class Manifest(NamedTuple):
    """The whole manifest of one link."""

    name: str
    target: str  # LLVM triple
    kernels: list[Kernel]
    statics: list[DeviceStatic]
    inputs: list[Input]
    toolchain: dict[str, str]  # tool -> version
    version: int = VERSION
    #: Every static that device code may change, those without a name for the host, too.
    mutable_statics: list[str] = _NO_ITEMS
    #: Of a partition: ``crate/kernel`` of each kernel of its crates that another must export.
    kernels_elsewhere: list[str] = _NO_ITEMS

    def kernel(self, name: str) -> Kernel | None:
        return next((k for k in self.kernels if k.name == name), None)

    def to_json(self) -> str:
        """The canonical text: byte-identical for equal manifests."""
        return schema.document(schema.plain(self))


def loads(text: str, file: str = "<manifest>") -> Manifest:
    """Reads a manifest from text. Raises FC0220 naming the field that is wrong."""
    return schema.loads(
        Manifest, text, root="manifest", version=VERSION, file=file, kind=errors.BAD_MANIFEST
    )


def load(path: str | os.PathLike[str]) -> Manifest:
    """Reads a manifest file. Raises FC0220, or ``OSError`` when it cannot be read."""
    return schema.load(Manifest, path, root="manifest", version=VERSION, kind=errors.BAD_MANIFEST)

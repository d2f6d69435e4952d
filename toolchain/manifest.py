"""The ABI manifest: what LINK promises and every later stage is checked against.

JSON, written with sorted keys and two-space indent; ``version`` is :data:`VERSION`. Sizes,
alignments and offsets are bytes. The reader refuses unknown versions and wrong types.
"""

from __future__ import annotations

import dataclasses
import json
import os
import types
import typing
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fatcrate.toolchain import errors
from fatcrate.toolchain.diagnostics import Location, fail

VERSION = 1


@dataclass(frozen=True)
class Parameter:
    """One machine parameter of a kernel, in order. ``cls`` is its machine class."""

    ordinal: int
    offset: int
    size: int
    align: int
    cls: str  # "int", "float", "pointer"
    name: str = ""  # empty when the IR does not tell
    rust_type: str = ""


@dataclass(frozen=True)
class Kernel:
    """One exported kernel."""

    name: str
    crate: str
    parameters: list[Parameter]
    rust_path: str = ""
    source: str = ""  # "file:line" when debug info is there
    static_shared: int = 0  # bytes LINK can see; the cubin may add reserved bytes
    uses_dynamic_shared: bool = False
    max_threads: list[int] = field(default_factory=list)  # x, y, z; empty: no bound
    cluster: list[int] = field(default_factory=list)
    required_features: list[str] = field(default_factory=list)
    min_arch: str = ""


@dataclass(frozen=True)
class DeviceStatic:
    """A static that the host may look up by name in the loaded module."""

    name: str
    crate: str
    size: int
    align: int
    space: str  # "global", "constant"
    mutable: bool


@dataclass(frozen=True)
class Input:
    """One file that went into the link, with its SHA-256; ``name`` has no directory."""

    name: str
    kind: str  # "crate", "sysroot", "libdevice", "primitives"
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The whole manifest of one link."""

    name: str
    target: str  # LLVM triple
    kernels: list[Kernel]
    statics: list[DeviceStatic]
    inputs: list[Input]
    toolchain: dict[str, str]  # tool -> version
    version: int = VERSION

    def kernel(self, name: str) -> Kernel | None:
        return next((k for k in self.kernels if k.name == name), None)

    def to_json(self) -> str:
        """The canonical text: byte-identical for equal manifests."""
        return json.dumps(dataclasses.asdict(self), indent=2, sort_keys=True) + "\n"


T = TypeVar("T")


def _build(cls: type[T], value: Any, path: str, file: str) -> T:
    """Makes dataclass ``cls`` from decoded JSON, checking every type; FC0220 otherwise."""
    if not isinstance(value, dict):
        _bad(file, path, "an object", value)
    hints = typing.get_type_hints(cls)
    known = {f.name: f for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    for name in value:
        if name not in known:
            fail(errors.BAD_MANIFEST, file, f"unknown field {path}.{name}")
    made: dict[str, Any] = {}
    for name, spec in known.items():
        if name in value:
            made[name] = _convert(hints[name], value[name], f"{path}.{name}", file)
        elif spec.default is dataclasses.MISSING and spec.default_factory is dataclasses.MISSING:
            fail(errors.BAD_MANIFEST, file, f"field {path}.{name} is missing")
    return cls(**made)


def _convert(hint: Any, value: Any, path: str, file: str) -> Any:
    origin = typing.get_origin(hint)
    if origin is list:
        if not isinstance(value, list):
            _bad(file, path, "a list", value)
        (item,) = typing.get_args(hint)
        return [_convert(item, v, f"{path}[{i}]", file) for i, v in enumerate(value)]
    if origin is dict:
        if not isinstance(value, dict):
            _bad(file, path, "an object", value)
        return {
            k: _convert(typing.get_args(hint)[1], v, f"{path}.{k}", file) for k, v in value.items()
        }
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _build(hint, value, path, file)
    if origin is types.UnionType:
        raise TypeError(f"unsupported field type {hint}")
    if type(value) is not hint:
        _bad(file, path, hint.__name__, value)
    return value


def _bad(file: str, path: str, wanted: str, value: object) -> typing.NoReturn:
    fail(errors.BAD_MANIFEST, file, f"{path} must be {wanted}, not {type(value).__name__}")


def loads(text: str, file: str = "<manifest>") -> Manifest:
    """Reads a manifest from text. Raises FC0220 naming the field that is wrong."""
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        fail(
            errors.BAD_MANIFEST,
            file,
            f"is not JSON: {error}",
            location=Location(file, line, getattr(error, "colno", None)),
        )
    if not isinstance(value, dict) or value.get("version") != VERSION:
        found = value.get("version") if isinstance(value, dict) else None
        fail(
            errors.BAD_MANIFEST,
            file,
            f"has version {found!r}; this fatcrate reads version {VERSION}",
            remedy="build the target again with this fatcrate",
        )
    return _build(Manifest, value, "manifest", file)


def load(path: str | os.PathLike[str]) -> Manifest:
    """Reads a manifest file. Raises FC0220, or ``OSError`` when it cannot be read."""
    with open(path, "rb") as stream:
        data = stream.read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        fail(
            errors.BAD_MANIFEST,
            os.fspath(path),
            "is not UTF-8 text",
            location=Location(os.fspath(path), offset=error.start),
        )
    return loads(text, os.fspath(path))

"""Decoding JSON into dataclasses with every type checked; the file formats' common reader.

The caller's :class:`Kind` is raised, naming the field that is wrong, so that a hostile or
stale file never reaches the code behind it.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import typing
from typing import Any, TypeVar

from fatcrate.toolchain.diagnostics import Kind, Location, fail

T = TypeVar("T")


def build(cls: type[T], value: Any, path: str, file: str, kind: Kind) -> T:
    """Makes dataclass ``cls`` from decoded JSON; raises ``kind`` naming the faulty field."""
    if not isinstance(value, dict):
        _bad(file, path, "an object", value, kind)
    hints, known = _fields(cls)  # type: ignore[arg-type]
    for name in value:
        if name not in known:
            fail(kind, file, f"unknown field {path}.{name}")
    made: dict[str, Any] = {}
    for name, spec in known.items():
        if name in value:
            made[name] = _convert(hints[name], value[name], f"{path}.{name}", file, kind)
        elif spec.default is dataclasses.MISSING and spec.default_factory is dataclasses.MISSING:
            fail(kind, file, f"field {path}.{name} is missing")
    return cls(**made)


@functools.cache
def _fields(cls: type[Any]) -> tuple[dict[str, Any], dict[str, dataclasses.Field[Any]]]:
    """Types and declarations of a dataclass's fields; finding them out takes long."""
    return typing.get_type_hints(cls), {f.name: f for f in dataclasses.fields(cls)}


def _convert(hint: Any, value: Any, path: str, file: str, kind: Kind) -> Any:
    origin = typing.get_origin(hint)
    if origin is list:
        if not isinstance(value, list):
            _bad(file, path, "a list", value, kind)
        (item,) = typing.get_args(hint)
        return [_convert(item, v, f"{path}[{i}]", file, kind) for i, v in enumerate(value)]
    if origin is dict:
        if not isinstance(value, dict):
            _bad(file, path, "an object", value, kind)
        item = typing.get_args(hint)[1]
        return {k: _convert(item, v, f"{path}.{k}", file, kind) for k, v in value.items()}
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return build(hint, value, path, file, kind)
    if not isinstance(hint, type):
        raise TypeError(f"unsupported field type {hint}")
    if type(value) is not hint:
        _bad(file, path, hint.__name__, value, kind)
    return value


def _bad(file: str, path: str, wanted: str, value: object, kind: Kind) -> typing.NoReturn:
    fail(kind, file, f"{path} must be {wanted}, not {type(value).__name__}")


def loads(cls: type[T], text: str, *, root: str, version: int, file: str, kind: Kind) -> T:
    """Reads one JSON document whose ``version`` field must equal ``version``.

    ``root`` is the document's name in messages about fields, ``file`` its place.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        fail(
            kind,
            file,
            f"is not JSON: {error}",
            location=Location(file, line, getattr(error, "colno", None)),
        )
    if not isinstance(value, dict) or value.get("version") != version:
        found = value.get("version") if isinstance(value, dict) else None
        fail(
            kind,
            file,
            f"has version {found!r}; this fatcrate reads version {version}",
            remedy="build the target again with this fatcrate",
        )
    return build(cls, value, root, file, kind)


def load(cls: type[T], path: str | os.PathLike[str], *, root: str, version: int, kind: Kind) -> T:
    """Reads such a document from a file; ``OSError`` when it cannot be read."""
    with open(path, "rb") as stream:
        data = stream.read()
    name = os.fspath(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        fail(kind, name, "is not UTF-8 text", location=Location(name, offset=error.start))
    return loads(cls, text, root=root, version=version, file=name, kind=kind)

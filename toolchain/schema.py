"""Decoding JSON into named tuples with every type checked; the file formats' common reader.

The classes state their fields' types as objects, not as text (no ``from __future__ import
annotations`` where they are), since finding out what a text means takes long. Each step reads
such files, so they are named tuples: ``dataclasses`` takes 15 ms to import.

The caller's :class:`Kind` is raised, naming the field that is wrong, so that a hostile or
stale file never reaches the code behind it.
"""

from __future__ import annotations

import json
import os
from typing import Any, NoReturn, TypeVar

from fatcrate.toolchain.diagnostics import Kind, Location, fail

T = TypeVar("T")


def build(cls: type[T], value: Any, path: str, file: str, kind: Kind) -> T:
    """Makes named tuple ``cls`` from decoded JSON; raises ``kind`` naming the faulty field."""
    if not isinstance(value, dict):
        _bad(file, path, "an object", value, kind)
    hints = cls.__annotations__
    defaults: dict[str, Any] = cls._field_defaults  # type: ignore[attr-defined]
    for name in value:
        if name not in hints:
            fail(kind, file, f"unknown field {path}.{name}")
    made: dict[str, Any] = {}
    for name, hint in hints.items():
        if name in value:
            made[name] = _convert(hint, value[name], f"{path}.{name}", file, kind)
        elif name not in defaults:
            fail(kind, file, f"field {path}.{name} is missing")
    return cls(**made)


def plain(value: Any) -> Any:
    """What :func:`build` takes: named tuples as dictionaries, at every depth."""
    if hasattr(value, "_fields"):
        return {name: plain(getattr(value, name)) for name in value._fields}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def document(value: Any) -> str:
    """JSON text of plain data: each item of the lists and objects at the top is one line.

    Keys are sorted, and equal data gives equal bytes. ``json`` indents in Python, ten times
    slower than it writes one line.
    """
    line = json.JSONEncoder(sort_keys=True).encode

    def field(key: str) -> str:
        held = value[key]
        if isinstance(held, dict) and held:
            rows = [f"{line(name)}: {line(held[name])}" for name in sorted(held)]
            return f"{line(key)}: {{\n    " + ",\n    ".join(rows) + "\n  }"
        if isinstance(held, list) and held:
            return f"{line(key)}: [\n    " + ",\n    ".join(map(line, held)) + "\n  ]"
        return f"{line(key)}: {line(held)}"

    return "{\n  " + ",\n  ".join(map(field, sorted(value))) + "\n}\n"


def _convert(hint: Any, value: Any, path: str, file: str, kind: Kind) -> Any:
    origin = getattr(hint, "__origin__", None)
    if origin is list:
        if not isinstance(value, list):
            _bad(file, path, "a list", value, kind)
        (item,) = hint.__args__
        return [_convert(item, v, f"{path}[{i}]", file, kind) for i, v in enumerate(value)]
    if origin is dict:
        if not isinstance(value, dict):
            _bad(file, path, "an object", value, kind)
        item = hint.__args__[1]
        return {k: _convert(item, v, f"{path}.{k}", file, kind) for k, v in value.items()}
    if hasattr(hint, "_fields"):
        return build(hint, value, path, file, kind)
    if not isinstance(hint, type):
        raise TypeError(f"unsupported field type {hint}")
    if type(value) is not hint:
        _bad(file, path, hint.__name__, value, kind)
    return value


def _bad(file: str, path: str, wanted: str, value: object, kind: Kind) -> NoReturn:
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

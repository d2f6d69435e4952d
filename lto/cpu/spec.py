"""What ``fatcrate run`` is given on its command line: sizes and arguments."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from fatcrate.lto.cpu import errors
from fatcrate.lto.cpu.arguments import Argument
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, FatcrateError, fail
from fatcrate.toolchain.errors import from_os_error
from fatcrate.toolchain.manifest import Kernel, Parameter

ARGUMENT_FORMS = "NUMBER, null, in:FILE, inout:FILE, out:FILE:DTYPE:SHAPE, zeros:DTYPE:SHAPE[:FILE]"

_SHORT_DTYPES = {
    **{f"f{n}": f"float{n}" for n in (16, 32, 64)},
    **{f"{k}{n}": f"{'u' if k == 'u' else ''}int{n}" for k in "iu" for n in (8, 16, 32, 64)},
    "bool": "bool",
}
_MOST_BYTES = 1 << 40


@dataclass(frozen=True)
class Given:
    """One ``--arg``: the value for the kernel, and the file that its array goes to."""

    value: Argument
    output: Path | None = None


def parse_size(option: str, text: str) -> tuple[int, ...]:
    """``4``, ``4,2``, ``4x2x1``: one to three numbers. Raises FC0614."""
    parts = re.split(r"[,x]", text)
    if not 1 <= len(parts) <= 3 or not all(re.fullmatch(r"[0-9]{1,10}", p) for p in parts):
        fail(
            errors.BAD_SPEC,
            option,
            f"{text!r} is not a size",
            remedy=f"write {option} X, {option} X,Y or {option} X,Y,Z",
        )
    return tuple(int(p) for p in parts)


def _shape(text: str) -> tuple[int, ...]:
    parts = re.split(r"[,x]", text)
    if not all(re.fullmatch(r"[0-9]{1,13}", p) for p in parts):
        raise _Bad(f"{text!r} is not a shape", "write it like 1024 or 32x32")
    return tuple(int(p) for p in parts)


def _dtype(text: str) -> np.dtype[Any]:
    name = _SHORT_DTYPES.get(text, text if text in _SHORT_DTYPES.values() else "")
    if not name:
        raise _Bad(f"{text!r} is not an element type", f"one of: {', '.join(_SHORT_DTYPES)}")
    return np.dtype(name)


class _Bad(Exception):
    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


def _buffer(dtype: str, shape: str) -> npt.NDArray[Any]:
    kind, dims = _dtype(dtype), _shape(shape)
    size = kind.itemsize
    for number in dims:
        size *= number
    if size > _MOST_BYTES:
        raise _Bad(f"{size} bytes are more than this machine can hold")
    try:
        return np.zeros(dims, dtype=kind)
    except (MemoryError, ValueError):
        raise _Bad(f"no memory for {size} bytes") from None


def load_array(path: Path) -> npt.NDArray[Any]:
    """Reads a .npy file. Raises FC0615, or ``OSError`` when it cannot be read."""
    try:
        array: Any = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, MemoryError, zipfile.BadZipFile) as error:
        fail(
            errors.BAD_ARRAY,
            str(path),
            "is not a .npy file of numbers",
            remedy="write it with numpy.save",
            notes=[str(error).splitlines()[0] if str(error) else type(error).__name__],
        )
    if not isinstance(array, np.ndarray):
        array.close()
        fail(
            errors.BAD_ARRAY,
            str(path),
            "is an archive of arrays (.npz)",
            remedy="write a single array with numpy.save",
        )
    return np.ascontiguousarray(array)


def _number(text: str, parameter: Parameter | None) -> Argument:
    """A number as the parameter wants it; anything else is left to the later check."""
    wants_float = parameter is not None and parameter.cls == "float"
    try:
        return float(text) if wants_float else int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise _Bad(f"{text!r} is no argument", f"write one of: {ARGUMENT_FORMS}") from None


def _given(text: str, parameter: Parameter | None) -> Given:
    kind, colon, rest = text.partition(":")
    if text == "null":
        return Given(None)
    if not colon:
        return Given(_number(text, parameter))
    if kind in ("in", "inout") and rest:
        array = load_array(Path(rest))
        if kind == "in":
            array.flags.writeable = False
        return Given(array, Path(rest) if kind == "inout" else None)
    if kind == "out" and rest.count(":") >= 2:
        path, dtype, shape = rest.rsplit(":", 2)
        array = _buffer(dtype, shape)
        array.reshape(-1).view(np.uint8)[:] = 0xFF
        return Given(array, Path(path))
    if kind == "zeros" and rest.count(":") >= 1:
        dtype, shape, *file = rest.split(":", 2)
        return Given(_buffer(dtype, shape), Path(file[0]) if file else None)
    raise _Bad(f"{text!r} is no argument", f"write one of: {ARGUMENT_FORMS}")


def parse_arguments(kernel: Kernel, texts: Sequence[str]) -> list[Given]:
    """All ``--arg`` options. Faults of all of them (FC0614, FC0615, FC0201) come together."""
    faults, given = Collector(), []
    for index, text in enumerate(texts):
        parameter = kernel.parameters[index] if index < len(kernel.parameters) else None
        try:
            given.append(_given(text, parameter))
        except _Bad as bad:
            faults.add(Diagnostic(errors.BAD_SPEC, f"--arg {index + 1}", str(bad), bad.remedy))
        except FatcrateError as error:
            faults.absorb(error)
        except FileNotFoundError as error:
            message = f"{error.filename}: there is no such file"
            remedy = "check the path, which counts from the present folder"
            faults.add(Diagnostic(errors.BAD_ARRAY, f"--arg {index + 1}", message, remedy))
        except OSError as error:
            faults.add(from_os_error(error))
    faults.check()
    return given

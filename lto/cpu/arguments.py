"""Arguments of a launch: Python values checked against a kernel's machine parameters."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from fatcrate.lto.cpu import errors
from fatcrate.lto.cpu.elements import Element
from fatcrate.toolchain.diagnostics import Collector, Diagnostic
from fatcrate.toolchain.manifest import Kernel, Parameter

#: What a kernel can be given: a number for a scalar, an array or None (null) for a pointer.
Argument = int | float | np.generic | npt.NDArray[Any] | None

_FLOAT_FORMATS = {2: "<e", 4: "<f", 8: "<d"}
_RUST_DTYPES = {
    **{f"i{n}": f"int{n}" for n in (8, 16, 32, 64)},
    **{f"u{n}": f"uint{n}" for n in (8, 16, 32, 64)},
    **{f"f{n}": f"float{n}" for n in (16, 32, 64)},
    "isize": "int64",
    "usize": "uint64",
    "bool": "bool",
}
_INT_NAMES = {1: "8-bit", 2: "16-bit", 4: "32-bit", 8: "64-bit", 16: "128-bit"}


@dataclass(frozen=True)
class Plan:
    """Checked arguments: bytes for a scalar, an index into ``arrays`` or None for a pointer."""

    values: tuple[bytes | int | None, ...]
    arrays: tuple[npt.NDArray[Any], ...]


def describe(parameter: Parameter) -> str:
    """``parameter 3 (`y`: *mut f32)`` as far as the manifest knows."""
    known = [
        f"`{parameter.name}`" if parameter.name else "",
        parameter.rust_type or _kind(parameter),
    ]
    return f"parameter {parameter.ordinal + 1} ({': '.join(k for k in known if k)})"


def _kind(parameter: Parameter) -> str:
    if parameter.cls == "pointer":
        return "pointer"
    if parameter.cls == "float":
        return f"f{parameter.size * 8}"
    if parameter.cls == "int":
        return f"{_INT_NAMES.get(parameter.size, '?')} integer"
    return parameter.cls


class _Bad(Exception):
    """What is wrong with one argument, and the remedy."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


def _integer(parameter: Parameter, value: Argument) -> bytes:
    if not isinstance(value, int | np.integer | np.bool_):
        raise _Bad(f"wants an integer, not {_name(value)}")
    number, bits = int(value), parameter.size * 8
    if not -(1 << bits - 1) <= number < 1 << bits:
        raise _Bad(f"{number} does not fit {_INT_NAMES.get(parameter.size, bits)} integers")
    return (number % (1 << bits)).to_bytes(parameter.size, "little")


def _float(parameter: Parameter, value: Argument) -> bytes:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise _Bad(f"wants a number, not {_name(value)}")
    try:
        return struct.pack(_FLOAT_FORMATS[parameter.size], float(value))
    except OverflowError:
        raise _Bad(f"{value} does not fit f{parameter.size * 8}") from None


def _array(parameter: Parameter, value: Argument) -> npt.NDArray[Any] | None:
    if value is None:
        return None
    if not isinstance(value, np.ndarray):
        raise _Bad(f"wants an array, not {_name(value)}")
    if value.dtype.hasobject:
        raise _Bad("an array of Python objects has no bytes for a kernel")
    if not value.dtype.isnative:
        raise _Bad(
            f"the array's byte order ({value.dtype.str}) is not the machine's",
            "convert it: `a.astype(a.dtype.newbyteorder('='))`",
        )
    if not value.flags.c_contiguous:
        raise _Bad("the array is not contiguous", "copy it: `np.ascontiguousarray(a)`")
    wanted = _RUST_DTYPES.get(_pointee(parameter.rust_type))
    if wanted is not None and value.dtype != np.dtype(wanted):
        raise _Bad(
            f"wants an array of {wanted}, not of {value.dtype}",
            f"convert it: `a.astype(np.{wanted})`, or reinterpret it: `a.view(np.{wanted})`",
        )
    return value


def _pointee(rust_type: str) -> str:
    """``f32`` of ``*mut f32``."""
    return rust_type.removeprefix("*const ").removeprefix("*mut ")


def _name(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}, shape {value.shape}"
    return "null" if value is None else f"{type(value).__name__} {value!r}"


def plan(kernel: Kernel, arguments: Sequence[Argument]) -> Plan:
    """Checks all arguments; raises FC0603 for all that do not fit together.

    The same array given twice is one buffer; arrays that overlap otherwise are refused, since
    each gets memory of its own.
    """
    faults = Collector()

    def complain(message: str, remedy: str = "") -> None:
        faults.add(Diagnostic(errors.BAD_ARGUMENT, kernel.name, message, remedy))

    if len(arguments) != len(kernel.parameters):
        listed = ", ".join(p.rust_type or _kind(p) for p in kernel.parameters) or "none"
        complain(
            f"takes {len(kernel.parameters)} arguments, got {len(arguments)}",
            f"give one for each machine parameter: {listed}",
        )
        faults.check()
    values: list[bytes | int | None] = []
    arrays: list[npt.NDArray[Any]] = []
    for parameter, argument in zip(kernel.parameters, arguments, strict=True):
        try:
            if parameter.cls == "int":
                values.append(_integer(parameter, argument))
            elif parameter.cls == "float":
                values.append(_float(parameter, argument))
            elif parameter.cls == "pointer":
                values.append(_place(arrays, _array(parameter, argument)))
            else:
                raise _Bad(
                    "a struct or array passed by value has no portable layout",
                    "pass its fields, or a pointer to it",
                )
        except _Bad as bad:
            complain(f"{describe(parameter)}: {bad}", bad.remedy)
    faults.check()
    return Plan(tuple(values), tuple(arrays))


def with_types(kernel: Kernel, types: Sequence[str]) -> Kernel:
    """The kernel with the Rust types of its machine parameters as somebody told them.

    Raises FC0603 where they contradict what the manifest knows.
    """
    told = [" ".join(text.split()) for text in types]
    faults = Collector()
    if len(told) != len(kernel.parameters):
        message = f"takes {len(kernel.parameters)} parameters, {len(told)} types are told"
        faults.add(Diagnostic(errors.BAD_ARGUMENT, kernel.name, message))
        faults.check()
    for parameter, text in zip(kernel.parameters, told, strict=True):
        if not _fits(parameter, text):
            remedy = f"one of {', '.join(_RUST_DTYPES)}, or *const or *mut and one of these"
            message = f"{describe(parameter)}: it cannot be told to be {text!r}"
            faults.add(Diagnostic(errors.BAD_ARGUMENT, kernel.name, message, remedy))
    faults.check()
    typed = [p._replace(rust_type=t) for p, t in zip(kernel.parameters, told, strict=True)]
    return kernel._replace(parameters=typed)


def _fits(parameter: Parameter, text: str) -> bool:
    inner = _pointee(text)
    if inner not in _RUST_DTYPES:
        return False
    known = _pointee(parameter.rust_type)
    if parameter.cls == "pointer":
        return inner != text and (known not in _RUST_DTYPES or known == inner)
    dtype = np.dtype(_RUST_DTYPES[inner])
    is_float = parameter.cls == "float"
    return inner == text and (dtype.kind == "f") == is_float and dtype.itemsize == parameter.size


def check_elements(kernel: Kernel, planned: Plan, elements: Sequence[Element | None]) -> None:
    """Compares the arrays with what the kernel's code does behind pointers of unknown type.

    Bytes, complex numbers and records may stand for anything. Raises FC0603.
    """
    faults = Collector()
    for parameter, value, element in zip(kernel.parameters, planned.values, elements, strict=False):
        if element is None or not isinstance(value, int) or parameter.rust_type:
            continue
        dtype = planned.arrays[value].dtype
        if dtype.kind not in "iuf" or dtype.itemsize in (1, element.size):
            continue
        if element.kind:
            to = f"np.{_RUST_DTYPES[str(element)]}"
            remedy = f"convert it: `a.astype({to})`, or reinterpret it: `a.view({to})`"
        else:
            remedy = f"give an array of {element}"
        message = f"the kernel's code takes it for {element}, the array is of {dtype}"
        text = f"{describe(parameter)}: {message}"
        faults.add(Diagnostic(errors.BAD_ARGUMENT, kernel.name, text, remedy))
    faults.check()


def _place(arrays: list[npt.NDArray[Any]], array: npt.NDArray[Any] | None) -> int | None:
    """The array's index among the buffers; a new one is added."""
    if array is None:
        return None
    for index, other in enumerate(arrays):
        if other is array:
            return index
        if np.may_share_memory(other, array):
            raise _Bad(
                "the array shares memory with that of another parameter",
                "pass the very same array twice, or copies",
            )
    arrays.append(array)
    return len(arrays) - 1

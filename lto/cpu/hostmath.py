"""libdevice's math functions on the host: LLVM IR that calls the host's libm.

Each function that :func:`supported` names gets a body which is right to 4 units in the last
place (mostly to 1): ``f32`` functions compute in double precision and round once, ``f64``
functions call libm's double functions, or its ``long double`` ones where glibc documents more
than 3 units (glibc manual, "Known Maximum Errors in Math Functions"). Functions without an
entry keep their libdevice bodies.

libm's functions are declared under names of ours (``__fc_libm_sin``), so that neither a user's
symbol nor LLVM's knowledge of ``sin`` gets in the way; :func:`host_symbols` gives addresses.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterable
from typing import Any

from fatcrate.lto.cpu import mathbodies
from fatcrate.lto.cpu.irbuilder import DOUBLE, FLOAT, Body, Wide

LIBM_PREFIX = "__fc_libm_"

#: libm functions of the same name: ``__nv_sin`` and, computed in double, ``__nv_sinf``.
_UNARY = (
    *("sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "logb", "erf"),
)
#: The same with libm's long double function for f64.
_UNARY_WIDE = ("cbrt", "erfc", "tgamma", "lgamma", "j0", "j1", "y0", "y1")
_BINARY = ("pow", "atan2", "hypot", "fmod", "remainder", "fdim")
#: LLVM intrinsics: exactly rounded, or exact.
_INTRINSIC = {
    "floor": ("floor", 1),
    "ceil": ("ceil", 1),
    "trunc": ("trunc", 1),
    "round": ("round", 1),
    "rint": ("rint", 1),
    "nearbyint": ("nearbyint", 1),
    "fabs": ("fabs", 1),
    "sqrt": ("sqrt", 1),
    "copysign": ("copysign", 2),
    "fmin": ("minnum", 2),
    "fmax": ("maxnum", 2),
    "fma": ("fma", 3),
}
#: ``__nv_fast_*`` (f32 alone): the accurate function.
_FAST = {
    "fast_sin": "sin",
    "fast_cos": "cos",
    "fast_tan": "tan",
    "fast_tanh": "tanh",
    "fast_exp": "exp",
    "fast_exp10": "exp10",
    "fast_log": "log",
    "fast_log2": "log2",
    "fast_log10": "log10",
}

_Maker = Callable[[Body], str]


def _unary(function: str) -> _Maker:
    def make(body: Body) -> str:
        wide = body.convert(body.arguments[0], DOUBLE)
        return body.convert(body.libm(function, wide), body.result)

    return make


def _unary_wide(function: str) -> _Maker:
    def make(body: Body) -> str:
        kind = body.wide if body.result == DOUBLE else DOUBLE
        return body.convert(body.libm(function, body.convert(body.arguments[0], kind)), body.result)

    return make


def _binary(function: str) -> _Maker:
    def make(body: Body) -> str:
        x, y = (body.convert(a, DOUBLE) for a in body.arguments)
        return body.convert(body.libm(function, x, y), body.result)

    return make


def _intrinsic(function: str) -> _Maker:
    def make(body: Body) -> str:
        return body.intrinsic(function, *body.arguments)

    return make


def _table() -> dict[str, tuple[str, str, _Maker]]:
    """name -> (result type, parameter types, maker)."""
    table: dict[str, tuple[str, str, _Maker]] = {}

    def both(base: str, parameters: str, make: _Maker, result: str = "T") -> None:
        for suffix, kind in (("", DOUBLE), ("f", FLOAT)):
            table[f"__nv_{base}{suffix}"] = (
                result.replace("T", kind),
                parameters.replace("T", kind),
                make,
            )

    for name in _UNARY:
        both(name, "T", _unary(name))
    for name in _UNARY_WIDE:
        both(name, "T", _unary_wide(name))
    for name in _BINARY:
        both(name, "T, T", _binary(name))
    for name, (function, count) in _INTRINSIC.items():
        both(name, ", ".join(["T"] * count), _intrinsic(function))
    for name, parameters, result, make in mathbodies.BODIES:
        both(name, parameters, make, result)
    for name, function in _FAST.items():
        table[f"__nv_{name}f"] = (FLOAT, FLOAT, _unary(function))
    table["__nv_fast_powf"] = (FLOAT, f"{FLOAT}, {FLOAT}", _binary("pow"))
    table["__nv_fast_fdividef"] = (FLOAT, f"{FLOAT}, {FLOAT}", mathbodies.divide)
    table["__nv_fast_sincosf"] = ("void", f"{FLOAT}, ptr, ptr", mathbodies.sincos)
    return table


_TABLE = _table()


def supported() -> frozenset[str]:
    """The libdevice functions that have a body here."""
    return frozenset(_TABLE)


def host_wide(machine: str) -> Wide:
    """LLVM's name of C's ``long double`` on a machine (``x86_64``, ``aarch64``)."""
    return "x86_fp80" if machine == "x86_64" else "fp128"


def definitions(names: Iterable[str], machine: str) -> str:
    """LLVM IR that defines the named functions; :func:`supported` must hold them all."""
    functions: list[str] = []
    declarations: set[str] = set()
    for name in sorted(names):
        result, parameters, make = _TABLE[name]
        body = Body(name, result, parameters.split(", "), host_wide(machine), LIBM_PREFIX)
        value = make(body)
        functions.append(body.text(value))
        declarations |= body.declarations
    return "\n".join([*functions, *sorted(declarations)]) + "\n"


def host_symbols(text: str) -> dict[str, int]:
    """Addresses of the libm functions that IR made by :func:`definitions` declares."""
    libm = ctypes.CDLL("libm.so.6")
    symbols: dict[str, int] = {}
    for name in re.findall(rf"@{LIBM_PREFIX}(\w+)", text):
        function: Any = getattr(libm, name)
        symbols[LIBM_PREFIX + name] = ctypes.cast(function, ctypes.c_void_p).value or 0
    return symbols

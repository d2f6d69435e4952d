"""libdevice functions that libm does not have, as compositions of those that it has.

Each maker gets a :class:`Body` for ``float`` or ``double`` and returns the result's value.
``float`` computes in double, ``double`` in the host's ``long double``: one rounding at the end
dominates the error.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from fatcrate.lto.cpu.irbuilder import DOUBLE, FLOAT, Body

Maker = Callable[[Body], str]


def _wider(body: Body, kind: str) -> str:
    return DOUBLE if kind == FLOAT else body.wide


def _widened(body: Body) -> list[str]:
    """The floating-point arguments in the wider type."""
    return [
        body.convert(a, _wider(body, body.type_of(a)))
        for a in body.arguments
        if body.type_of(a) in (FLOAT, DOUBLE)
    ]


def _reciprocal(body: Body, x: str) -> str:
    one = body.constant(1.0, body.type_of(x))
    return body.convert(body.binary("fdiv", one, x), body.result)


def rsqrt(body: Body) -> str:
    """1/√x."""
    (x,) = _widened(body)
    return _reciprocal(body, body.intrinsic("sqrt", x))


def rcbrt(body: Body) -> str:
    """The reciprocal cube root."""
    (x,) = _widened(body)
    return _reciprocal(body, body.libm("cbrt", x))


def rhypot(body: Body) -> str:
    """The reciprocal of the hypotenuse."""
    x, y = _widened(body)
    return _reciprocal(body, body.libm("hypot", x, y))


def _norm(body: Body) -> str:
    total = ""
    for x in _widened(body):
        square = body.binary("fmul", x, x)
        total = body.binary("fadd", total, square) if total else square
    return body.intrinsic("sqrt", total)


def norm(body: Body) -> str:
    """Euclidean length; squares cannot overflow in the wider type's exponent range."""
    return body.convert(_norm(body), body.result)


def rnorm(body: Body) -> str:
    """The reciprocal of the Euclidean length."""
    return _reciprocal(body, _norm(body))


def powi(body: Body) -> str:
    """x to an integer power: libm rounds pow once."""
    x, n = body.arguments
    exponent = body.from_int(n, DOUBLE)
    return body.convert(body.libm("pow", body.convert(x, DOUBLE), exponent), body.result)


def divide(body: Body) -> str:
    """The quotient, rounded once."""
    return body.binary("fdiv", *body.arguments)


def nextafter(body: Body) -> str:
    """The neighbour in the direction of the second argument."""
    return body.libm("nextafter", *body.arguments)


def _circle(body: Body) -> tuple[str, str]:
    """sin(πx) and cos(πx): x = n/2 + r with |r| ≤ 1/4, all of it exact."""
    (x,) = _widened(body)
    kind = body.type_of(x)
    half, four = body.constant(0.5, kind), body.constant(4.0, kind)
    n = body.intrinsic("rint", body.binary("fadd", x, x))
    r = body.binary("fsub", x, body.binary("fmul", n, half))
    turns = body.intrinsic("floor", body.binary("fdiv", n, four))
    quarter = body.to_int(body.binary("fsub", n, body.binary("fmul", turns, four)))
    pi = body.constant(math.pi, kind)
    if kind != DOUBLE:  # the digits of π that a double does not hold
        pi = body.binary("fadd", pi, body.constant(1.2246467991473532e-16, kind))
    angle = body.binary("fmul", pi, r)
    sin, cos = body.libm("sin", angle), body.libm("cos", angle)
    minus_sin, minus_cos = body.negate(sin), body.negate(cos)
    is_one, is_two, is_three = (body.equals(quarter, i) for i in (1, 2, 3))

    def pick(zero: str, one: str, two: str, three: str) -> str:
        rest = body.select(is_two, two, body.select(is_three, three, zero))
        return body.select(is_one, one, rest)

    sine = pick(sin, cos, minus_sin, minus_cos)
    cosine = pick(cos, minus_sin, minus_cos, sin)
    zero = body.constant(0.0, kind)
    is_zero = body.compare("oeq", sine, zero)  # at integers: zero with the sign of x
    sine = body.select(is_zero, body.intrinsic("copysign", zero, x), sine)
    cosine = body.select(body.compare("oeq", cosine, zero), zero, cosine)
    narrow = body.type_of(body.arguments[0])
    return body.convert(sine, narrow), body.convert(cosine, narrow)


def sinpi(body: Body) -> str:
    """sin(πx)."""
    return _circle(body)[0]


def cospi(body: Body) -> str:
    """cos(πx)."""
    return _circle(body)[1]


def sincospi(body: Body) -> str:
    """Both of them, through pointers."""
    for value, pointer in zip(_circle(body), body.arguments[1:], strict=True):
        body.store(value, pointer)
    return ""


def sincos(body: Body) -> str:
    """Sine and cosine, through pointers."""
    x, sine, cosine = body.arguments
    narrow = body.type_of(x)
    wide = body.convert(x, DOUBLE)
    body.store(body.convert(body.libm("sin", wide), narrow), sine)
    body.store(body.convert(body.libm("cos", wide), narrow), cosine)
    return ""


def erfinv(body: Body) -> str:
    """Winitzki's approximation (a series below 1/2), then three steps of Halley's method."""
    (signed,) = _widened(body)
    kind = body.type_of(signed)

    def number(value: float) -> str:
        return body.constant(value, kind)

    one, half = number(1.0), number(0.5)
    x = body.intrinsic("fabs", signed)
    rest = body.binary("fsub", one, x)  # exact for x ≥ 1/2
    small = body.compare("olt", x, half)
    log = body.libm("log", body.binary("fmul", rest, body.binary("fadd", one, x)))
    a = 0.147
    b = body.binary("fadd", number(2 / (math.pi * a)), body.binary("fmul", log, half))
    inner = body.binary("fsub", body.binary("fmul", b, b), body.binary("fdiv", log, number(a)))
    root = body.intrinsic("sqrt", body.binary("fsub", body.intrinsic("sqrt", inner), b))
    series = body.binary("fmul", body.binary("fmul", x, x), number(math.pi / 12))
    series = body.binary("fmul", body.binary("fadd", one, series), x)
    series = body.binary("fmul", series, number(math.sqrt(math.pi) / 2))
    y = body.select(small, series, root)
    for _ in range(3):
        below = body.binary("fsub", body.libm("erf", y), x)
        above = body.binary("fsub", rest, body.libm("erfc", y))
        error = body.select(small, below, above)
        slope = body.libm("exp", body.binary("fmul", y, y))
        step = body.binary(
            "fmul", body.binary("fmul", error, slope), number(math.sqrt(math.pi) / 2)
        )
        bend = body.binary("fadd", one, body.binary("fmul", y, step))
        y = body.binary("fsub", y, body.binary("fdiv", step, bend))
    y = body.select(body.compare("oeq", x, one), number(math.inf), y)
    return body.convert(body.intrinsic("copysign", y, signed), body.result)


def normcdf(body: Body) -> str:
    """The normal distribution: erfc(-x/√2)/2."""
    (x,) = _widened(body)
    kind = body.type_of(x)
    root = body.intrinsic("sqrt", body.constant(0.5, kind))
    tail = body.libm("erfc", body.negate(body.binary("fmul", x, root)))
    return body.convert(body.binary("fmul", tail, body.constant(0.5, kind)), body.result)


def _bessel(function: str) -> Maker:
    def make(body: Body) -> str:
        order, x = body.arguments
        wide = body.convert(x, _wider(body, body.type_of(x)))
        suffix = "" if body.type_of(wide) == DOUBLE else "l"
        name = f"__fc_libm_{function}{suffix}"
        return body.convert(body.call(body.type_of(wide), name, order, wide), body.result)

    return make


def ldexp(body: Body) -> str:
    """x times a power of two."""
    return body.libm("ldexp", *body.arguments)


def ilogb(body: Body) -> str:
    """The exponent as an integer."""
    return body.libm("ilogb", *body.arguments, result="i32")


def frexp(body: Body) -> str:
    """Fraction and, through a pointer, exponent."""
    return body.libm("frexp", *body.arguments)


def modf(body: Body) -> str:
    """Fractional and, through a pointer, integer part."""
    return body.libm("modf", *body.arguments)


def remquo(body: Body) -> str:
    """Remainder and, through a pointer, low bits of the quotient."""
    return body.libm("remquo", *body.arguments)


def _to_long(function: str) -> Maker:
    def make(body: Body) -> str:
        return body.libm(function, *body.arguments, result="i64")

    return make


#: (libdevice base name, parameter types, result type, maker); T stands for the float type.
BODIES: tuple[tuple[str, str, str, Maker], ...] = (
    ("rsqrt", "T", "T", rsqrt),
    ("rcbrt", "T", "T", rcbrt),
    ("rhypot", "T, T", "T", rhypot),
    ("norm3d", "T, T, T", "T", norm),
    ("norm4d", "T, T, T, T", "T", norm),
    ("rnorm3d", "T, T, T", "T", rnorm),
    ("rnorm4d", "T, T, T, T", "T", rnorm),
    ("powi", "T, i32", "T", powi),
    ("nextafter", "T, T", "T", nextafter),
    ("sinpi", "T", "T", sinpi),
    ("cospi", "T", "T", cospi),
    ("sincospi", "T, ptr, ptr", "void", sincospi),
    ("sincos", "T, ptr, ptr", "void", sincos),
    ("erfinv", "T", "T", erfinv),
    ("normcdf", "T", "T", normcdf),
    ("jn", "i32, T", "T", _bessel("jn")),
    ("yn", "i32, T", "T", _bessel("yn")),
    ("ldexp", "T, i32", "T", ldexp),
    ("scalbn", "T, i32", "T", ldexp),
    ("ilogb", "T", "i32", ilogb),
    ("frexp", "T, ptr", "T", frexp),
    ("modf", "T, ptr", "T", modf),
    ("remquo", "T, T, ptr", "T", remquo),
    ("llrint", "T", "i64", _to_long("llrint")),
    ("llround", "T", "i64", _to_long("llround")),
)

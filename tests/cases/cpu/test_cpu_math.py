"""Math functions on the CPU against mpmath (and NumPy for those that are exact)."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from mpmath import mp, mpf

from tests.cases.cpu.conftest import Load

mp.prec = 400
Array = npt.NDArray[Any]

#: (low, high) of each argument; sampled evenly and, where the sign is one, logarithmically.
Domain = tuple[float, float]
ANY: Domain = (-1e3, 1e3)
UNIT: Domain = (-1.0, 1.0)
POSITIVE: Domain = (1e-30, 1e30)
SMALL: Domain = (-20.0, 20.0)

UNARY: dict[str, tuple[Callable[[Any], Any], Domain]] = {
    "recip": (lambda x: 1 / x, POSITIVE),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), POSITIVE),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), ANY),
    "rcbrt": (lambda x: mp.sign(x) / mp.cbrt(abs(x)), ANY),
    "exp": (mp.exp, (-80, 80)),
    "exp2": (lambda x: mpf(2) ** x, (-120, 120)),
    "exp10": (lambda x: mpf(10) ** x, (-37, 37)),
    "exp_m1": (mp.expm1, SMALL),
    "ln": (mp.log, POSITIVE),
    "ln_1p": (mp.log1p, (-0.99, 100)),
    "log2": (lambda x: mp.log(x, 2), POSITIVE),
    "log10": (mp.log10, POSITIVE),
    "sin": (mp.sin, ANY),
    "cos": (mp.cos, ANY),
    "tan": (mp.tan, ANY),
    "sin_pi": (mp.sinpi, SMALL),
    "cos_pi": (mp.cospi, SMALL),
    "asin": (mp.asin, UNIT),
    "acos": (mp.acos, UNIT),
    "atan": (mp.atan, ANY),
    "sinh": (mp.sinh, SMALL),
    "cosh": (mp.cosh, SMALL),
    "tanh": (mp.tanh, SMALL),
    "asinh": (mp.asinh, ANY),
    "acosh": (mp.acosh, (1.0, 1e10)),
    "atanh": (mp.atanh, (-0.999, 0.999)),
    "erf": (mp.erf, (-5, 5)),
    "erfc": (mp.erfc, (-5, 9)),
    "erf_inv": (mp.erfinv, (-0.99999, 0.99999)),
    "gamma": (mp.gamma, (-5.9, 30)),
    "ln_gamma": (lambda x: mp.log(abs(mp.gamma(x))), (0.01, 1e4)),
    "bessel_j0": (lambda x: mp.besselj(0, x), (0, 50)),
    "bessel_j1": (lambda x: mp.besselj(1, x), (0, 50)),
    "bessel_y0": (lambda x: mp.bessely(0, x), (0.01, 50)),
    "bessel_y1": (lambda x: mp.bessely(1, x), (0.01, 50)),
    "to_degrees": (lambda x: x * 180 / mp.pi, ANY),
    "to_radians": (lambda x: x * mp.pi / 180, ANY),
}

BINARY: dict[str, tuple[Callable[[Any, Any], Any], Domain, Domain]] = {
    "hypot": (mp.hypot, ANY, ANY),
    "powf": (lambda x, y: x**y, (1e-3, 50), (-8, 8)),
    "atan2": (mp.atan2, ANY, ANY),
}

#: Exactly rounded, so that NumPy gives the same bits.
EXACT_UNARY: dict[str, Callable[[Array], Array]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round_ties_even": np.rint,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + x.dtype.type(0.5)), x),
    "fract": lambda x: x - np.trunc(x),
    "abs": np.abs,
    "sqrt": lambda x: np.sqrt(x),
    "signum": lambda x: np.where(np.isnan(x), x, np.copysign(np.ones_like(x), x)),
}
EXACT_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "copysign": np.copysign,
    "max": np.fmax,
    "min": np.fmin,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "positive_difference": lambda x, y: np.where(x <= y, np.zeros_like(x), x - y),
    "fmod": np.fmod,
    "next_after": np.nextafter,
}


def sample(name: str, kind: str, domain: Domain, count: int) -> Array:
    """Repeatable numbers of a domain."""
    random = np.random.default_rng(zlib.crc32(f"{name}/{kind}/{domain}".encode()))
    low, high = domain
    if low > 0 and high / low > 100:
        values = np.exp(random.uniform(np.log(low), np.log(high), count))
    else:
        values = random.uniform(low, high, count)
    return values.astype(kind)


def error_in_ulps(result: float, exact: Any, kind: str) -> float:
    """Distance of a result from the exact value in units of the latter's last place."""
    info = np.finfo(kind)
    if mp.isnan(exact) or not np.isfinite(result):
        return float("inf")
    if exact == 0:
        return 0.0 if result == 0 else float("inf")
    exponent = max(int(mp.floor(mp.log(abs(exact), 2))), int(info.minexp))
    unit = mpf(2) ** (exponent - info.nmant)
    return float(abs(mpf(float(result)) - exact) / unit)


def launch(load: Load, name: str, kind: str, *arrays: Array, out: Array | None = None) -> Array:
    """Runs `NAME_f32` or `NAME_f64` over whole arrays."""
    count = len(arrays[0])
    result = np.zeros(count, kind) if out is None else out
    kernel = f"{name}_{'f32' if kind == 'float32' else 'f64'}"
    blocks = -(-count // 64)
    load("math").launch(kernel, grid=blocks, block=64, args=[*arrays, result, count])
    return result


KINDS = pytest.mark.parametrize("kind", ["float32", "float64"])


@KINDS
@pytest.mark.parametrize("name", UNARY)
def test_unary_function_is_within_four_ulps(load: Load, name: str, kind: str, full: bool) -> None:
    reference, domain = UNARY[name]
    x = sample(name, kind, domain, 2000 if full else 60)
    result = launch(load, name, kind, x)
    worst = max(
        error_in_ulps(r, reference(mpf(float(v))), kind) for v, r in zip(x, result, strict=True)
    )
    assert worst <= 4.0


@KINDS
@pytest.mark.parametrize("name", BINARY)
def test_binary_function_is_within_four_ulps(load: Load, name: str, kind: str, full: bool) -> None:
    reference, first, second = BINARY[name]
    count = 2000 if full else 60
    x, y = sample(name + "x", kind, first, count), sample(name + "y", kind, second, count)
    result = launch(load, name, kind, x, y)
    worst = max(
        error_in_ulps(r, reference(mpf(float(a)), mpf(float(b))), kind)
        for a, b, r in zip(x, y, result, strict=True)
    )
    assert worst <= 4.0


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1.5, 1e300, -1e300, 5e-324, np.inf, -np.inf, np.nan]


@KINDS
@pytest.mark.parametrize("name", EXACT_UNARY)
def test_exact_unary_function_has_the_same_bits(load: Load, name: str, kind: str) -> None:
    with np.errstate(all="ignore"):
        x = np.concatenate([sample(name, kind, ANY, 500), np.array(SPECIAL).astype(kind)])
        expected = EXACT_UNARY[name](x).astype(kind)
    np.testing.assert_array_equal(launch(load, name, kind, x), expected)


@KINDS
@pytest.mark.parametrize("name", EXACT_BINARY)
def test_exact_binary_function_has_the_same_bits(load: Load, name: str, kind: str) -> None:
    with np.errstate(all="ignore"):
        special = np.array([(a, b) for a in SPECIAL for b in SPECIAL]).astype(kind)
        x = np.concatenate([sample(name, kind, ANY, 500), special[:, 0]])
        y = np.concatenate([sample(name + "y", kind, SMALL, 500), special[:, 1]])
        expected = EXACT_BINARY[name](x, y).astype(kind)
    result = launch(load, name, kind, x, y)
    if name in ("max", "min"):  # of the zeros either may be given
        result, expected = result + 0, expected + 0
    np.testing.assert_array_equal(result, expected)


@KINDS
def test_fused_multiply_add_rounds_once(load: Load, kind: str) -> None:
    x, y, z = (sample(name, kind, ANY, 500) for name in "abc")
    result = launch(load, "mul_add", kind, x, y, out=z.copy())
    exact = [mpf(float(a)) * mpf(float(b)) + mpf(float(c)) for a, b, c in zip(x, y, z, strict=True)]
    worst = max(error_in_ulps(r, e, kind) for r, e in zip(result, exact, strict=True))
    assert worst <= 0.5
    assert np.any(result != x * y + z)


@KINDS
def test_integer_powers(load: Load, kind: str) -> None:
    x = sample("powi", kind, (-9, 9), 200)
    n = np.random.default_rng(5).integers(-12, 13, 200, dtype=np.int32)
    result = launch(load, "powi", kind, x, n)
    worst = max(
        error_in_ulps(r, mpf(float(a)) ** int(b), kind)
        for a, b, r in zip(x, n, result, strict=True)
    )
    assert worst <= 4.0


@KINDS
def test_euclidean_division(load: Load, kind: str) -> None:
    x, y = sample("dx", kind, ANY, 500), sample("dy", kind, SMALL, 500)
    quotient = launch(load, "div_euclid", kind, x, y)
    remainder = launch(load, "rem_euclid", kind, x, y)
    assert np.all((remainder >= 0) & (remainder <= np.abs(y)))
    np.testing.assert_array_equal(quotient, np.rint(quotient))
    np.testing.assert_allclose(
        quotient * y + remainder, x, rtol=1e-4 if kind == "float32" else 1e-12
    )


@KINDS
def test_logarithm_to_a_base_and_remainder(load: Load, kind: str) -> None:
    x, y = sample("lx", kind, (1, 1e6), 100), sample("ly", kind, (2, 20), 100)
    with np.errstate(all="ignore"):
        logs = np.log(x.astype("f8")) / np.log(y.astype("f8"))
    tolerance = 1e-5 if kind == "float32" else 1e-13
    np.testing.assert_allclose(
        launch(load, "log", kind, x, y), logs, rtol=tolerance, atol=tolerance
    )
    exact = [
        mpf(float(a)) - mpf(float(b)) * mp.nint(mpf(float(a)) / mpf(float(b)))
        for a, b in zip(x, y, strict=True)
    ]
    result = launch(load, "remainder", kind, x, y)
    assert [float(e) for e in exact] == [float(r) for r in result]


#: (function, argument, result): the ends of domains and beyond, as IEEE 754 and C have them.
EDGES = [
    ("sqrt", -1.0, np.nan),
    ("ln", 0.0, -np.inf),
    ("ln", -1.0, np.nan),
    ("ln_1p", -1.0, -np.inf),
    ("exp", 1e5, np.inf),
    ("exp", -1e5, 0.0),
    ("asin", 1.5, np.nan),
    ("acosh", 0.5, np.nan),
    ("atanh", 1.0, np.inf),
    ("erf", np.inf, 1.0),
    ("erfc", -np.inf, 2.0),
    ("erf_inv", 1.0, np.inf),
    ("erf_inv", -1.0, -np.inf),
    ("erf_inv", 2.0, np.nan),
    ("erf_inv", 0.0, 0.0),
    ("gamma", -1.0, np.nan),
    ("gamma", 0.0, np.inf),
    ("rsqrt", 0.0, np.inf),
    ("rcbrt", 0.0, np.inf),
    ("sin_pi", 3.0, 0.0),
    ("sin_pi", -0.0, -0.0),
    ("sin_pi", 0.5, 1.0),
    ("sin_pi", np.inf, np.nan),
    ("cos_pi", 0.5, 0.0),
    ("cos_pi", 1.0, -1.0),
    ("cos_pi", 1e30, 1.0),
    ("sin", np.inf, np.nan),
    ("tanh", 1e5, 1.0),
]


@KINDS
def test_edges_of_domains(load: Load, kind: str) -> None:
    found = [launch(load, f, kind, np.array([x], kind))[0] for f, x, _ in EDGES]
    np.testing.assert_array_equal(np.array(found, kind), np.array([e for *_, e in EDGES], kind))
    signs = [np.signbit(f) for f, (*_, e) in zip(found, EDGES, strict=True) if e == 0]
    assert signs == [np.signbit(e) for *_, e in EDGES if e == 0]

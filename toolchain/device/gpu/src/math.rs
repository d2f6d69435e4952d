//! Floating-point functions, for `f32` and `f64` alike.
//!
//! [`Float`] has the methods that `std` would give the two types, and some that GPUs have
//! besides. Functions that rustc knows are its intrinsics, the others primitives; on NVIDIA
//! hardware both end in single instructions or in NVIDIA's libdevice. Arithmetic, `sqrt` and
//! `mul_add` are correctly rounded. The accuracy of the others is the back end's: for NVIDIA
//! see "Mathematical Functions" in the CUDA C++ Programming Guide; on the CPU it is 4 units
//! in the last place.

use core::fmt::Debug;
use core::ops::{
    Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign,
};

mod types;

/// `f32` and `f64`: arithmetic and functions, so that algorithms can be generic over both.
///
/// `NaN` in gives `NaN` out unless a method says otherwise.
pub trait Float:
    Copy
    + Debug
    + Default
    + PartialEq
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + RemAssign
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The circle constant.
    const PI: Self;
    /// Euler's number.
    const E: Self;
    /// Positive infinity.
    const INFINITY: Self;
    /// Negative infinity.
    const NEG_INFINITY: Self;
    /// A quiet NaN.
    const NAN: Self;
    /// The largest finite value.
    const MAX: Self;
    /// The smallest finite value.
    const MIN: Self;
    /// The smallest positive normal value.
    const MIN_POSITIVE: Self;
    /// The difference between 1 and the next larger value.
    const EPSILON: Self;

    /// The nearest value to an `f64`.
    fn from_f64(value: f64) -> Self;
    /// The nearest value to an unsigned integer.
    fn from_usize(value: usize) -> Self;
    /// The value as `f64`.
    fn to_f64(self) -> f64;

    /// Whether it is NaN.
    fn is_nan(self) -> bool;
    /// Whether it is neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// The largest integer not above.
    fn floor(self) -> Self;
    /// The smallest integer not below.
    fn ceil(self) -> Self;
    /// The nearest integer, halves away from 0.
    fn round(self) -> Self;
    /// The nearest integer, halves to even.
    fn round_ties_even(self) -> Self;
    /// The integer part.
    fn trunc(self) -> Self;
    /// The part after the point, with the sign of the value.
    fn fract(self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// 1 or -1 by the sign, 0 and infinities included.
    fn signum(self) -> Self;
    /// The magnitude of `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// The larger of the two; the other one if one is NaN.
    fn max(self, other: Self) -> Self;
    /// The smaller of the two; the other one if one is NaN.
    fn min(self, other: Self) -> Self;
    /// The larger of the two, -0 below +0; NaN if one is NaN.
    fn maximum(self, other: Self) -> Self;
    /// The smaller of the two, -0 below +0; NaN if one is NaN.
    fn minimum(self, other: Self) -> Self;
    /// The nearest value in `low..=high`; panics unless `low <= high`.
    fn clamp(self, low: Self, high: Self) -> Self;
    /// `self * a + b`, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// `self - other`, but 0 if that is negative.
    fn positive_difference(self, other: Self) -> Self;
    /// The remainder of truncated division, exact.
    fn fmod(self, other: Self) -> Self;
    /// The remainder of division to the nearest integer, exact (IEEE 754 `remainder`).
    fn remainder(self, other: Self) -> Self;
    /// Euclidean division: the integer `n` with `self == n * other + self.rem_euclid(other)`.
    fn div_euclid(self, other: Self) -> Self;
    /// The least non-negative remainder.
    fn rem_euclid(self, other: Self) -> Self;
    /// The next value towards `other`.
    fn next_after(self, other: Self) -> Self;
    /// `1 / self`.
    fn recip(self) -> Self;
    /// Radians as degrees.
    fn to_degrees(self) -> Self;
    /// Degrees as radians.
    fn to_radians(self) -> Self;

    /// The square root.
    fn sqrt(self) -> Self;
    /// `1 / self.sqrt()`.
    fn rsqrt(self) -> Self;
    /// The cube root.
    fn cbrt(self) -> Self;
    /// `1 / self.cbrt()`.
    fn rcbrt(self) -> Self;
    /// `(self² + other²).sqrt()` without needless overflow.
    fn hypot(self, other: Self) -> Self;
    /// `self` to an integer power.
    fn powi(self, exponent: i32) -> Self;
    /// `self` to a power.
    fn powf(self, exponent: Self) -> Self;
    /// e to the power of `self`.
    fn exp(self) -> Self;
    /// 2 to the power of `self`.
    fn exp2(self) -> Self;
    /// 10 to the power of `self`.
    fn exp10(self) -> Self;
    /// `self.exp() - 1`, accurate near 0.
    fn exp_m1(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// `(1 + self).ln()`, accurate near 0.
    fn ln_1p(self) -> Self;
    /// The logarithm to a base, as a quotient of natural logarithms.
    fn log(self, base: Self) -> Self;
    /// The logarithm to base 2.
    fn log2(self) -> Self;
    /// The logarithm to base 10.
    fn log10(self) -> Self;

    /// The sine.
    fn sin(self) -> Self;
    /// The cosine.
    fn cos(self) -> Self;
    /// Sine and cosine.
    fn sin_cos(self) -> (Self, Self);
    /// The tangent.
    fn tan(self) -> Self;
    /// The sine of `self` times π.
    fn sin_pi(self) -> Self;
    /// The cosine of `self` times π.
    fn cos_pi(self) -> Self;
    /// The arc sine.
    fn asin(self) -> Self;
    /// The arc cosine.
    fn acos(self) -> Self;
    /// The arc tangent.
    fn atan(self) -> Self;
    /// The angle of the point (`x`, `self`), in -π to π.
    fn atan2(self, x: Self) -> Self;
    /// The hyperbolic sine.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    fn cosh(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The inverse hyperbolic sine.
    fn asinh(self) -> Self;
    /// The inverse hyperbolic cosine.
    fn acosh(self) -> Self;
    /// The inverse hyperbolic tangent.
    fn atanh(self) -> Self;

    /// The error function.
    fn erf(self) -> Self;
    /// `1 - self.erf()`, accurate for large values.
    fn erfc(self) -> Self;
    /// The inverse of the error function.
    fn erf_inv(self) -> Self;
    /// The gamma function.
    fn gamma(self) -> Self;
    /// The natural logarithm of the absolute value of the gamma function.
    fn ln_gamma(self) -> Self;
    /// The Bessel function of the first kind, order 0.
    fn bessel_j0(self) -> Self;
    /// The Bessel function of the first kind, order 1.
    fn bessel_j1(self) -> Self;
    /// The Bessel function of the second kind, order 0.
    fn bessel_y0(self) -> Self;
    /// The Bessel function of the second kind, order 1.
    fn bessel_y1(self) -> Self;
}

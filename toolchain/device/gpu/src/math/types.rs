//! [`Float`] for `f32` and `f64`: which function of the compiler or of the back end serves each
//! method.

use core::intrinsics;

use super::Float;
use crate::primitives::*;

/// Methods that are one function of the same arguments.
macro_rules! forward {
    ($type:ty: $($name:ident($($argument:ident),*) = $function:path;)*) => {
        $(
            #[inline(always)]
            fn $name(self $(, $argument: $type)*) -> $type {
                $function(self $(, $argument)*)
            }
        )*
    };
}

macro_rules! float {
    ($type:ident {
        intrinsics: { $($intrinsic:tt)* }
        primitives: { $($primitive:tt)* }
    }) => {
        impl Float for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const PI: Self = core::$type::consts::PI;
            const E: Self = core::$type::consts::E;
            const INFINITY: Self = $type::INFINITY;
            const NEG_INFINITY: Self = $type::NEG_INFINITY;
            const NAN: Self = $type::NAN;
            const MAX: Self = $type::MAX;
            const MIN: Self = $type::MIN;
            const MIN_POSITIVE: Self = $type::MIN_POSITIVE;
            const EPSILON: Self = $type::EPSILON;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $type
            }

            #[inline(always)]
            fn from_usize(value: usize) -> Self {
                value as $type
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                $type::is_nan(self)
            }

            #[inline(always)]
            fn is_finite(self) -> bool {
                $type::is_finite(self)
            }

            #[inline(always)]
            fn fract(self) -> Self {
                self - Float::trunc(self)
            }

            #[inline(always)]
            fn clamp(self, low: Self, high: Self) -> Self {
                $type::clamp(self, low, high)
            }

            #[inline(always)]
            fn powi(self, exponent: i32) -> Self {
                float!(@powi $type)(self, exponent)
            }

            #[inline(always)]
            fn div_euclid(self, other: Self) -> Self {
                let quotient = Float::trunc(self / other);
                if Float::fmod(self, other) < 0.0 {
                    quotient - Float::signum(other)
                } else {
                    quotient
                }
            }

            #[inline(always)]
            fn rem_euclid(self, other: Self) -> Self {
                let remainder = Float::fmod(self, other);
                if remainder < 0.0 { remainder + Float::abs(other) } else { remainder }
            }

            #[inline(always)]
            fn log(self, base: Self) -> Self {
                Float::ln(self) / Float::ln(base)
            }

            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                (Float::sin(self), Float::cos(self))
            }

            forward! {
                $type:
                abs() = $type::abs;
                signum() = $type::signum;
                copysign(sign) = $type::copysign;
                max(other) = $type::max;
                min(other) = $type::min;
                recip() = $type::recip;
                to_degrees() = $type::to_degrees;
                to_radians() = $type::to_radians;
                $($intrinsic)*
                $($primitive)*
            }
        }
    };
    (@powi f32) => { intrinsics::powif32 };
    (@powi f64) => { intrinsics::powif64 };
}

float! { f32 {
    intrinsics: {
        floor() = intrinsics::floorf32;
        ceil() = intrinsics::ceilf32;
        round() = intrinsics::roundf32;
        round_ties_even() = intrinsics::round_ties_even_f32;
        trunc() = intrinsics::truncf32;
        maximum(other) = intrinsics::maximumf32;
        minimum(other) = intrinsics::minimumf32;
        mul_add(a, b) = intrinsics::fmaf32;
        sqrt() = intrinsics::sqrtf32;
        powf(exponent) = intrinsics::powf32;
        exp() = intrinsics::expf32;
        exp2() = intrinsics::exp2f32;
        ln() = intrinsics::logf32;
        log2() = intrinsics::log2f32;
        log10() = intrinsics::log10f32;
        sin() = intrinsics::sinf32;
        cos() = intrinsics::cosf32;
    }
    primitives: {
        positive_difference(other) = __fc_fdim_f32;
        fmod(other) = __fc_fmod_f32;
        remainder(other) = __fc_remainder_f32;
        next_after(other) = __fc_nextafter_f32;
        rsqrt() = __fc_rsqrt_f32;
        cbrt() = __fc_cbrt_f32;
        rcbrt() = __fc_rcbrt_f32;
        hypot(other) = __fc_hypot_f32;
        exp10() = __fc_exp10_f32;
        exp_m1() = __fc_expm1_f32;
        ln_1p() = __fc_log1p_f32;
        tan() = __fc_tan_f32;
        sin_pi() = __fc_sinpi_f32;
        cos_pi() = __fc_cospi_f32;
        asin() = __fc_asin_f32;
        acos() = __fc_acos_f32;
        atan() = __fc_atan_f32;
        atan2(x) = __fc_atan2_f32;
        sinh() = __fc_sinh_f32;
        cosh() = __fc_cosh_f32;
        tanh() = __fc_tanh_f32;
        asinh() = __fc_asinh_f32;
        acosh() = __fc_acosh_f32;
        atanh() = __fc_atanh_f32;
        erf() = __fc_erf_f32;
        erfc() = __fc_erfc_f32;
        erf_inv() = __fc_erfinv_f32;
        gamma() = __fc_tgamma_f32;
        ln_gamma() = __fc_lgamma_f32;
        bessel_j0() = __fc_j0_f32;
        bessel_j1() = __fc_j1_f32;
        bessel_y0() = __fc_y0_f32;
        bessel_y1() = __fc_y1_f32;
    }
} }

float! { f64 {
    intrinsics: {
        floor() = intrinsics::floorf64;
        ceil() = intrinsics::ceilf64;
        round() = intrinsics::roundf64;
        round_ties_even() = intrinsics::round_ties_even_f64;
        trunc() = intrinsics::truncf64;
        maximum(other) = intrinsics::maximumf64;
        minimum(other) = intrinsics::minimumf64;
        mul_add(a, b) = intrinsics::fmaf64;
        sqrt() = intrinsics::sqrtf64;
        powf(exponent) = intrinsics::powf64;
        exp() = intrinsics::expf64;
        exp2() = intrinsics::exp2f64;
        ln() = intrinsics::logf64;
        log2() = intrinsics::log2f64;
        log10() = intrinsics::log10f64;
        sin() = intrinsics::sinf64;
        cos() = intrinsics::cosf64;
    }
    primitives: {
        positive_difference(other) = __fc_fdim_f64;
        fmod(other) = __fc_fmod_f64;
        remainder(other) = __fc_remainder_f64;
        next_after(other) = __fc_nextafter_f64;
        rsqrt() = __fc_rsqrt_f64;
        cbrt() = __fc_cbrt_f64;
        rcbrt() = __fc_rcbrt_f64;
        hypot(other) = __fc_hypot_f64;
        exp10() = __fc_exp10_f64;
        exp_m1() = __fc_expm1_f64;
        ln_1p() = __fc_log1p_f64;
        tan() = __fc_tan_f64;
        sin_pi() = __fc_sinpi_f64;
        cos_pi() = __fc_cospi_f64;
        asin() = __fc_asin_f64;
        acos() = __fc_acos_f64;
        atan() = __fc_atan_f64;
        atan2(x) = __fc_atan2_f64;
        sinh() = __fc_sinh_f64;
        cosh() = __fc_cosh_f64;
        tanh() = __fc_tanh_f64;
        asinh() = __fc_asinh_f64;
        acosh() = __fc_acosh_f64;
        atanh() = __fc_atanh_f64;
        erf() = __fc_erf_f64;
        erfc() = __fc_erfc_f64;
        erf_inv() = __fc_erfinv_f64;
        gamma() = __fc_tgamma_f64;
        ln_gamma() = __fc_lgamma_f64;
        bessel_j0() = __fc_j0_f64;
        bessel_j1() = __fc_j1_f64;
        bessel_y0() = __fc_y0_f64;
        bessel_y1() = __fc_y1_f64;
    }
} }

//! Approximations of `micromath`.
#![no_std]

use harness::Words;
use micromath::{F32, F32Ext};

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let x = i as f32 * 0.3 - 9.0;
    out.f32(x.sin());
    out.f32(x.cos());
    out.f32(F32Ext::sqrt(x.abs()));
    out.f32(F32Ext::atan2(x, 1.5));
    out.f32(F32Ext::exp(x * 0.1));
    out.f32(F32Ext::ln(x.abs() + 0.5));
    out.f32(F32Ext::powf(x.abs(), 0.7));
    out.f32(F32(x).floor().0 + F32(x).fract().0);
}

harness::kernel!(micromath_case, 8, case);

//! Elementary and special functions of `libm` in f32 and f64.
#![no_std]

use harness::Words;

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let x = i as f32 * 0.37 + 0.01;
    let y = f64::from(x) * 0.5 - 3.0;
    out.f32(libm::sinf(x));
    out.f32(libm::cosf(x));
    out.f32(libm::expf(-x));
    out.f32(libm::logf(x));
    out.f32(libm::powf(x, 1.7));
    out.f32(libm::fmodf(x, 0.9));
    out.f64(libm::tgamma(y));
    out.f64(libm::erf(y));
    out.f64(libm::cbrt(y));
}

harness::kernel!(libm_case, 12, case);

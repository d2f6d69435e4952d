//! Half and bfloat16 arithmetic and slice conversions of `half`.
#![no_std]

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use harness::Words;

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let x = i as f32 * 1.618 - 50.0;
    let (h, b) = (f16::from_f32(x), bf16::from_f32(x));
    out.u32(u32::from(h.to_bits()) << 16 | u32::from(b.to_bits()));
    out.f32((h * h + f16::from_f32(0.1)).to_f32());
    out.f32((b / bf16::from_f32(3.0)).to_f32());
    let mut wide = [0.0f32; 5];
    [h, -h, f16::MAX, f16::MIN_POSITIVE, f16::NAN].convert_to_f32_slice(&mut wide);
    out.f32(wide.iter().take(4).sum());
    out.u32(u32::from(wide[4].is_nan()) + 2 * u32::from(h > f16::ONE));
    out.u32(f16::from_f64(f64::from(x) * 1e-6).is_normal().into());
}

harness::kernel!(half_case, 6, case);

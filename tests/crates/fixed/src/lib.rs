//! Fixed-point arithmetic of `fixed`.
#![no_std]

use fixed::types::{I16F16, U8F24};
use harness::Words;

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let a = I16F16::from_num(i as i32 - 20) / 7;
    let b = I16F16::from_num(2.5) - a;
    out.i32((a * b).to_bits());
    out.i32(a.checked_div(b).map_or(-1, I16F16::to_bits));
    out.i32(a.saturating_mul(I16F16::from_num(3000)).to_bits());
    out.u32(U8F24::from_num(i % 200).sqrt().to_bits());
    out.f32(a.round().to_num::<f32>() + b.frac().to_num::<f32>());
    out.i32(
        I16F16::from_str("-1.375")
            .unwrap()
            .wrapping_mul(a)
            .to_bits(),
    );
}

harness::kernel!(fixed_case, 6, case);

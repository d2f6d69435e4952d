//! Generic arithmetic over `num_traits`.
#![no_std]

use harness::Words;
use num_traits::{CheckedMul, Float, FromPrimitive, Num, ToPrimitive};

fn horner<T: Num + Copy>(coefficients: &[T], x: T) -> T {
    coefficients
        .iter()
        .rev()
        .fold(T::zero(), |sum, &c| sum * x + c)
}

fn norm<T: Float>(x: T, y: T) -> T {
    (x * x + y * y).sqrt().mul_add(T::one(), x.abs().ln_1p())
}

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let x = i as f32 * 0.25 - 4.0;
    out.f32(horner(&[1.0f32, -2.0, 0.5, 0.125], x));
    out.f64(horner(&[3.0f64, 0.1, -0.7], f64::from(x)));
    out.u32(horner(&[7u32, 3, 5], i));
    out.f32(norm(x, x + 1.0));
    out.u32(CheckedMul::checked_mul(&10u8, &(i as u8)).map_or(u32::MAX, u32::from));
    out.u32(num_traits::pow(3u32, (i % 20) as usize));
    out.u32(u16::from_u32(i * 4001).map_or(0, u32::from));
    out.u32(
        i.to_f64()
            .map_or(0, |value| value.to_bits() as u32 ^ i.count_ones()),
    );
}

harness::kernel!(num_traits_case, 10, case);

#![no_std]
#![feature(core_intrinsics, float_algebraic)]
#![allow(internal_features)]
use core::intrinsics::{fadd_fast, fmul_fast};

#[inline]
pub fn fast(a: f32, b: f32, c: f32) -> f32 {
    unsafe { fadd_fast(fmul_fast(a, b), c) }
}

#[inline]
pub fn algebraic(a: f64, b: f64, c: f64) -> f64 {
    a.algebraic_mul(b).algebraic_add(c)
}

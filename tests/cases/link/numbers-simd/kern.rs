#![no_std]
#![feature(portable_simd)]
#![feature(core_intrinsics)]
#![allow(internal_features)]
use core::simd::{Simd, f32x4, num::SimdFloat};
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(p: *mut f32x4) {
    unsafe {
        let a = *p;
        let b = *p.add(1);
        *p = a * b + Simd::splat(1.0);
        *p.add(2) = core::intrinsics::simd::simd_fsin(a);
        *p.add(3) = a % b;
        *p.add(4) = Simd::splat(a.reduce_sum());
    }
}

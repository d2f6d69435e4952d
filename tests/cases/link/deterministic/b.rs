// deps: a
#![no_std]
#![feature(core_intrinsics)]
#![allow(internal_features)]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn kb(x: *mut f32) {
    unsafe {
        *x = core::intrinsics::powf32(*x, 0.3) + a::f(3) as f32;
    }
}

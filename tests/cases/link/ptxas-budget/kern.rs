#![no_std]
#![feature(core_intrinsics)]
#![allow(internal_features)]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32) {
    unsafe {
        *x = core::intrinsics::sinf32(*x);
    }
}

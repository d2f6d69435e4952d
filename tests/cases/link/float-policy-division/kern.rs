#![no_std]
#![feature(core_intrinsics)]
#![allow(internal_features)]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32) {
    unsafe {
        let (a, b, c) = (*x, *x.add(1), *x.add(2));
        *x.add(3) = a * b + c;
        *x.add(4) = a / b;
        *x.add(5) = core::intrinsics::sqrtf32(c);
    }
}

#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn one(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn two(x: *mut u32) {
    unsafe {
        *x = 2;
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn three(x: *mut u32) {
    unsafe {
        *x = 3;
    }
}

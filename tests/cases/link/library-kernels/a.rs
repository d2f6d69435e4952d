#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn from_library(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}
pub fn f() -> u32 {
    2
}

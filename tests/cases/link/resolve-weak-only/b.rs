#![no_std]
#![feature(linkage)]
#[linkage = "weak"]
#[unsafe(no_mangle)]
pub extern "C" fn pick() -> u32 {
    222
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe {
        *x = pick();
    }
}

#![no_std]
#[unsafe(no_mangle)]
pub extern "C" fn pick() -> u32 {
    222
}
mod other {
    unsafe extern "C" {
        pub safe fn pick() -> u32;
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe {
        *x = other::pick();
    }
}

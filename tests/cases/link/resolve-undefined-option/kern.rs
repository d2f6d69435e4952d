#![no_std]
#[unsafe(no_mangle)]
pub extern "C" fn debug_hook(x: u32) -> u32 {
    x + 5
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}

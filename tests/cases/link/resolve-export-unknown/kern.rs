#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn convolve(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}

#![no_std]
#[unsafe(no_mangle)]
pub extern "C" fn helper(x: u32) -> u32 {
    x / 3
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe {
        *x = helper(*x);
    }
}

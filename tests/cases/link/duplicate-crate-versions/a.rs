// name: same
#![no_std]
#[inline(never)]
pub fn value() -> u32 {
    111
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn ka(x: *mut u32) {
    unsafe {
        *x = value();
    }
}

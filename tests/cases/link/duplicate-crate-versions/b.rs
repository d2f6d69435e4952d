// name: same
#![no_std]
#[inline(never)]
pub fn value() -> u32 {
    222
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn kb(x: *mut u32) {
    unsafe {
        *x = value();
    }
}

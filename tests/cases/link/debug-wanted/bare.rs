#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn b(p: *mut u32) {
    unsafe { *p = 1 };
}

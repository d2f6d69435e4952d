#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn o(p: *mut u32) {
    unsafe { *p = 1 };
}

// flags: -Cdebuginfo=2
#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(p: *mut u32) {
    unsafe { *p = 2 };
}

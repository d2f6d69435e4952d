#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k() {}

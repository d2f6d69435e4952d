#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn add(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn mov(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn ret(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn entry(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn func(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn global(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn tid(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn b32(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn reg(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn max(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}

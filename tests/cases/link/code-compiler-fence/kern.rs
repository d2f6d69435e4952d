#![no_std]
use core::sync::atomic::{Ordering, compiler_fence, fence};
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn soft(x: *mut u32) {
    unsafe {
        *x += 1;
        compiler_fence(Ordering::SeqCst);
        *x *= 3;
        compiler_fence(Ordering::Acquire);
        *x += 1;
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn hard(x: *mut u32) {
    unsafe {
        *x += 1;
        fence(Ordering::SeqCst);
        *x *= 3;
    }
}

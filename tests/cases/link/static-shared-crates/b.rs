// deps: a
#![no_std]
use core::sync::atomic::Ordering;
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    a::hit();
    unsafe {
        *x = a::HITS.fetch_add(10, Ordering::Relaxed);
    }
}

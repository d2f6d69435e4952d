#![no_std]
unsafe extern "C" {
    fn __fc_thread_idx() -> u32;
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe {
        *x = __fc_thread_idx();
    }
}

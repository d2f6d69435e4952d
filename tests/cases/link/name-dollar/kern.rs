#![no_std]
#[unsafe(export_name = "k$1")]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}

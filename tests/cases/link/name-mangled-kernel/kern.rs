#![no_std]
pub mod inner {
    #[inline(never)]
    pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
        unsafe {
            *x = 1;
        }
    }
}

#![no_std]
#![allow(missing_gpu_kernel_export_name)]
pub mod inner {
    #[inline(never)]
    pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
        unsafe {
            *x = 1;
        }
    }
}

// debug: 2
#![no_std]
pub mod image {
    #[unsafe(no_mangle)]
    pub unsafe extern "gpu-kernel" fn blur(
        input: *const f32,
        output: *mut f32,
        width: usize,
        sigma: f32,
    ) {
        unsafe {
            *output = *input * sigma + width as f32;
        }
    }
}

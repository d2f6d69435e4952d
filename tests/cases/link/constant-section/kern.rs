#![no_std]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".constant")]
pub static WEIGHTS: [f32; 16] = [1.0; 16];
#[unsafe(link_section = ".constant")]
static PRIVATE: [u32; 5] = [9, 8, 7, 6, 5];
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32, i: usize) {
    unsafe {
        *x = WEIGHTS[i] + PRIVATE[i] as f32;
    }
}

#![no_std]
static TABLE: [f32; 8] = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5];
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32, i: usize) {
    unsafe {
        *x = TABLE[i & 7];
    }
}

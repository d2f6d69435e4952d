#![no_std]
#[unsafe(link_section = ".shared")]
static mut BUF: [f32; 32] = [0.0; 32];
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32, i: usize) {
    unsafe {
        BUF[i] = *x;
        *x = BUF[31 - i];
    }
}

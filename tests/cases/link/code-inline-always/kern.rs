// opt: 0
#![no_std]
#[inline(always)]
fn here(x: u32) -> u32 {
    x.wrapping_mul(3)
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe {
        *x = here(*x);
    }
}

#![no_std]
static GRÖSSE: [u32; 3] = [1, 2, 3];
#[inline(never)]
fn berechne_größe(x: usize) -> u32 {
    GRÖSSE[x]
}
#[inline(never)]
fn 面積(x: u32) -> u32 {
    x * x
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32, i: usize) {
    unsafe {
        *x = berechne_größe(i) + 面積(*x);
    }
}

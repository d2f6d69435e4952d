// debug: 2
#![no_std]
#[inline(never)]
fn helper(x: f32, n: u32) -> f32 {
    let mut s = 0.0;
    for i in 0..n {
        s += x * i as f32;
    }
    s
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32, n: u32) {
    unsafe {
        *x = helper(*x, n);
    }
}

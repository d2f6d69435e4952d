// gpu
#![no_std]
#[inline(never)]
fn sum(p: *const f32, n: usize) -> f32 {
    let mut s = 0.0;
    let mut i = 0;
    while i < n {
        s += unsafe { *p.add(i) };
        i += 1;
    }
    s
}
static BIAS: [f32; 4] = [1.0, 2.0, 3.0, 4.0];
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32) {
    let s = gpu::shared!([f32; 32]);
    let p = s.as_ptr() as *mut f32;
    unsafe {
        let i = gpu::thread_idx_x() as usize;
        *p.add(i) = *x.add(i);
        gpu::barrier();
        *x.add(i) = sum(p, 32) + sum(x, 4) + sum(BIAS.as_ptr(), 4);
    }
}

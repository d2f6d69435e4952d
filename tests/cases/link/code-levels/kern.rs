// opt: 0
#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32, n: usize) {
    let mut t = 0.0;
    let mut i = 0;
    while i < 8 {
        t += unsafe { *x.add(i * n) };
        i += 1;
    }
    unsafe {
        *x = t;
    }
}

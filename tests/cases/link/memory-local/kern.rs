#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32, n: usize) {
    let mut a = [0u32; 64];
    let mut i = 0;
    while i < n {
        a[(i * 7) & 63] = i as u32;
        i += 1;
    }
    unsafe {
        *x = a[n & 63];
    }
}

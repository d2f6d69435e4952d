#![no_std]
extern crate alloc;
use alloc::vec;
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32, n: usize) {
    let mut v = vec![0u32; n];
    v.extend_from_slice(&[1, 2, 3]);
    v.shrink_to_fit();
    unsafe {
        *x = v[n / 2] + v.len() as u32;
    }
}

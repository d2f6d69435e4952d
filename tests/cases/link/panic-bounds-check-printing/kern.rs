#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32, n: usize, i: usize) {
    let s = unsafe { core::slice::from_raw_parts_mut(x, n) };
    s[i] = s[i + 1];
}

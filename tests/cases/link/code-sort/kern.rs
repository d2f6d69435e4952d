#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32, n: usize, v: u32) {
    let s = unsafe { core::slice::from_raw_parts_mut(x, n) };
    s.sort_unstable();
    let at = s.binary_search(&v).unwrap_or_else(|i| i);
    if n > 0 {
        s[0] = at as u32;
    }
}

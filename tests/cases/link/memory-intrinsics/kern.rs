#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(d: *mut u32, s: *const u32, n: usize) {
    unsafe {
        core::ptr::copy_nonoverlapping(s, d, n);
        core::ptr::copy(d, d.add(3), n);
        core::ptr::write_bytes(d, 0, n);
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn eq(a: *const u8, b: *const u8, n: usize, out: *mut bool) {
    unsafe {
        *out = core::slice::from_raw_parts(a, n) == core::slice::from_raw_parts(b, n);
    }
}

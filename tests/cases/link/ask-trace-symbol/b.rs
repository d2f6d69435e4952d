#![no_std]
unsafe extern "C" {
    fn shared(x: u32) -> u32;
    fn memcpy(d: *mut u8, s: *const u8, n: usize) -> *mut u8;
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32, n: usize) {
    unsafe {
        *x = shared(*x);
        memcpy(x as *mut u8, x.add(9) as *const u8, n);
    }
}

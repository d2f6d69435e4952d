// deps: a
#![no_std]
unsafe extern "C" {
    fn zeta(x: u32) -> u32;
    static TABLE: [u32; 4];
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe {
        *x = a::both(*x) + zeta(1) + TABLE[0];
    }
}

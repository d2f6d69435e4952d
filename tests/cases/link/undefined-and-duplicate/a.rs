#![no_std]
unsafe extern "C" {
    fn zeta(x: u32) -> u32;
}
#[unsafe(no_mangle)]
pub extern "C" fn scale(x: u32) -> u32 {
    unsafe { zeta(x) }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe { *x = scale(*x) };
}

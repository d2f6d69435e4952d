#![no_std]
unsafe extern "C" {
    fn eta(x: u32) -> u32;
}
#[unsafe(no_mangle)]
pub extern "C" fn scale(x: u32) -> u32 {
    x + 1
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe { *x = scale(*x) };
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn l(x: *mut u32) {
    unsafe { *x = eta(*x) };
}

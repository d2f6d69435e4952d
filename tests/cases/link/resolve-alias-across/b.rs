#![no_std]
unsafe extern "C" {
    fn public(x: u32) -> u32;
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe {
        *x = public(*x);
    }
}

// debug: 2
#![no_std]
unsafe extern "C" {
    fn missing(x: u32) -> u32;
}
#[inline(never)]
fn helper(x: u32) -> u32 {
    if x > 3 { unsafe { missing(x) } } else { x }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe {
        *x = helper(*x) + missing(7);
    }
}

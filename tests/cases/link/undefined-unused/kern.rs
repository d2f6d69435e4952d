#![no_std]
unsafe extern "C" {
    fn missing();
}
pub unsafe fn dead() {
    unsafe { missing() }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}

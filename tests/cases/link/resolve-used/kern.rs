#![no_std]
#[used]
static KEEP: [u32; 4] = [0xABCD, 2, 3, 4];
static DROP: [u32; 4] = [5, 6, 7, 8];
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}
pub fn drop() -> &'static [u32; 4] {
    &DROP
}

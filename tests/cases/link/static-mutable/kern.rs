#![no_std]
#[unsafe(no_mangle)]
pub static mut COUNTER: [u32; 4] = [1, 2, 3, 4];
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32, i: usize) {
    unsafe {
        COUNTER[i & 3] += 1;
        *x = COUNTER[0];
    }
}

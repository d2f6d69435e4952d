// deps: a
#![no_std]
static COUNT: [u32; 3] = [21, 22, 23];
#[inline(never)]
fn get(i: usize) -> u32 {
    COUNT[i]
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32, i: usize) {
    unsafe {
        *x = get(i) + a::a(i);
    }
}

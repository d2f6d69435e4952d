// gpu
// debug: 2
#![no_std]
#[inline(never)]
pub fn f(x: u32) -> u32 {
    let s = gpu::shared!([u32; 8]);
    unsafe {
        *(s.as_ptr() as *mut u32) = x;
    }
    gpu::barrier();
    x
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn ka(x: *mut u32) {
    unsafe {
        *x = f(*x);
    }
}

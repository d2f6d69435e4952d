// gpu
#![no_std]
#[inline(never)]
fn small(i: usize, v: u32) -> u32 {
    let s = gpu::shared!([u32; 16]);
    let p = s.as_ptr() as *mut u32;
    unsafe {
        *p.add(i & 15) = v;
        gpu::barrier();
        *p.add(15 - (i & 15))
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn one(x: *mut u32, i: usize) {
    unsafe {
        *x = small(i, *x);
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn two(x: *mut u32, i: usize) {
    let s = gpu::shared!([u32; 32]);
    let p = s.as_ptr() as *mut u32;
    unsafe {
        *p.add(i & 31) = *x;
        gpu::barrier();
        *x = small(i, *p.add(3));
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn none(x: *mut u32) {
    unsafe {
        *x = 1;
    }
}

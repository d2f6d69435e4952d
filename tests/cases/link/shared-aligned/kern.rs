// gpu
#![no_std]
#[repr(C, align(128))]
#[derive(Clone, Copy)]
pub struct Line([u8; 128]);
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u8, i: usize) {
    let s = gpu::shared!([Line; 2]);
    let p = s.as_ptr() as *mut u8;
    unsafe {
        *p.add(i) = *x;
        gpu::barrier();
        *x = *p.add(255 - i);
    }
}

// gpu
#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32) {
    let s = gpu::shared!([f32; 32]);
    let p = s.as_ptr() as *mut f32;
    unsafe {
        let i = gpu::thread_idx_x() as usize;
        *p.add(i) = *x.add(i);
        gpu::barrier();
        *x.add(i) = *p.add(31 - i);
    }
}

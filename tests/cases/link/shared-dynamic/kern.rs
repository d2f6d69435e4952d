// gpu
#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn with(x: *mut f32) {
    unsafe {
        let p = gpu::primitives::__fc_dynamic_shared();
        let i = gpu::thread_idx_x() as usize;
        let q = p as *mut f32;
        *q.add(i) = *x;
        gpu::barrier();
        *x = *q.add(0);
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn without(x: *mut f32) {
    unsafe {
        *x = 1.0;
    }
}

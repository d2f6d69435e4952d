// gpu
// deps: a
#![no_std]
fn first(i: usize, v: f32) -> f32 {
    let s = gpu::shared!([f32; 64]);
    let p = s.as_ptr() as *mut f32;
    unsafe {
        p.add(i).write_volatile(v);
        gpu::barrier();
        p.add(63 - i).read_volatile()
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32) {
    unsafe {
        let i = gpu::thread_idx_x() as usize;
        *x.add(i) = first(i, *x) + a::first(i, *x);
    }
}

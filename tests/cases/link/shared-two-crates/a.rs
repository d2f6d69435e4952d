// gpu
#![no_std]
pub fn first(i: usize, v: f32) -> f32 {
    let s = gpu::shared!([f32; 64]);
    let p = s.as_ptr() as *mut f32;
    unsafe {
        p.add(i).write_volatile(v);
        gpu::barrier();
        p.add(63 - i).read_volatile()
    }
}

#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(f: *mut f32, d: *mut f64) {
    unsafe {
        *f = *f % *f.add(1);
        *d = *d % *d.add(1);
        *f.add(2) = *f.add(2) % 3.5;
    }
}

#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(f: *mut f32, d: *mut f64, i: *mut i64) {
    unsafe {
        *i = *f as i64;
        *i.add(1) = *d as u8 as i64;
        *i.add(2) = *d as u64 as i64;
        *i.add(3) = *f as i16 as i64;
        *f = *i as f32;
        *d = *i as u64 as f64;
        *f.add(1) = *d as f32;
        *i.add(4) = (*f as u8 as char != 'x') as i64;
    }
}

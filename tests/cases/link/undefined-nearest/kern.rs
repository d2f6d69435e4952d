// deps: a
#![no_std]
extern crate a;
unsafe extern "C" {
    fn scale_vectr(x: f32) -> f32;
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32) {
    unsafe {
        *x = scale_vectr(*x) + a::scale_vector(1.0);
    }
}

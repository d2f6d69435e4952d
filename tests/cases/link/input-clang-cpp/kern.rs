#![no_std]
unsafe extern "C" {
    fn area(kind: i32, v: f32) -> f32;
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32, kind: i32) {
    unsafe {
        *x = area(kind, *x);
    }
}

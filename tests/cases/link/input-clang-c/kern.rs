#![no_std]
unsafe extern "C" {
    fn twice(x: f32) -> f32;
    fn get(i: i32) -> i32;
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32) {
    unsafe {
        *x = twice(*x) + get(3) as f32;
    }
}

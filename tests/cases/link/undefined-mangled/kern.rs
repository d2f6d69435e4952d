#![no_std]
unsafe extern "C" {
    #[link_name = "_RNvCs1234_7mathlib5scale"]
    fn scale(x: f32) -> f32;
    #[link_name = "_ZN7mathlib4norm17h0123456789abcdefE"]
    fn norm(x: f32) -> f32;
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32) {
    unsafe {
        *x = scale(*x) + norm(*x);
    }
}

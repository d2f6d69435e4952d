#![no_std]
#[unsafe(no_mangle)]
pub extern "C" fn scale_vector(x: f32) -> f32 {
    x * 2.0
}

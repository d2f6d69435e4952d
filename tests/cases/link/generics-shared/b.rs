// deps: a
#![no_std]
pub fn b(x: &[f32]) -> f32 {
    a::largest(x).unwrap_or(0.0)
}

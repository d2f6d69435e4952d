#![no_std]
extern crate alloc;
use alloc::{boxed::Box, vec::Vec};
trait Shape {
    fn area(&self) -> f32;
}
struct Sq(f32);
impl Shape for Sq {
    fn area(&self) -> f32 {
        self.0 * self.0
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32, n: u32) {
    let mut v: Vec<Box<dyn Shape>> = Vec::new();
    for i in 0..n {
        v.push(Box::new(Sq(i as f32)));
    }
    unsafe {
        *x = v.iter().map(|s| s.area()).sum();
    }
}

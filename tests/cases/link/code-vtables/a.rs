#![no_std]
pub trait Op {
    fn run(&self, x: f32) -> f32;
}
pub struct Add(pub f32);
impl Op for Add {
    fn run(&self, x: f32) -> f32 {
        x + self.0
    }
}

// deps: a
#![no_std]
use a::Op;
struct Mul(f32);
impl Op for Mul {
    fn run(&self, x: f32) -> f32 {
        x * self.0
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32, which: u32) {
    let add = a::Add(2.0);
    let mul = Mul(3.0);
    let op: &dyn Op = if which == 0 { &add } else { &mul };
    unsafe {
        *x = op.run(*x);
    }
}

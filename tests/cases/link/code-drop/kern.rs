#![no_std]
struct Guard<'a>(&'a mut u32);
impl Drop for Guard<'_> {
    fn drop(&mut self) {
        *self.0 += 100;
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    let mut n = 0;
    {
        let g = Guard(&mut n);
        *g.0 += 1;
    }
    unsafe {
        *x = n;
    }
}

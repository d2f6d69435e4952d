#![no_std]
static A: u32 = 5;
static B: u32 = 6;
static TABLE: [&u32; 2] = [&A, &B];
fn one(x: u32) -> u32 {
    x + 1
}
fn two(x: u32) -> u32 {
    x * 2
}
static CALLS: [fn(u32) -> u32; 2] = [one, two];
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32, i: usize) {
    unsafe {
        *x = CALLS[i & 1](*TABLE[i & 1]);
    }
}

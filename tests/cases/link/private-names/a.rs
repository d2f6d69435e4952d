#![no_std]
static COUNT: [u32; 3] = [11, 12, 13];
#[inline(never)]
fn get(i: usize) -> u32 {
    COUNT[i]
}
#[inline(never)]
pub fn a(i: usize) -> u32 {
    get(i)
}

#![no_std]
#[inline(never)]
pub fn deep(x: u32) -> u32 {
    x ^ 5
}
#[inline(never)]
pub fn middle(x: u32) -> u32 {
    deep(x) + 1
}
#[inline(never)]
pub fn unused() -> u32 {
    1
}

#![no_std]
pub const N: u32 = 3;
pub trait T {}

#![no_std]

pub const OFFSET: u32 = 77;

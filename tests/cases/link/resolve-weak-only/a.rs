#![no_std]
#![feature(linkage)]
#[linkage = "weak"]
#[unsafe(no_mangle)]
pub extern "C" fn pick() -> u32 {
    111
}

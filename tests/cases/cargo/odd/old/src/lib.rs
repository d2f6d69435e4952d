//! Edition 2015, in which `async` is a name like any other.
#![no_std]

pub fn answer() -> u32 {
    let async = if cfg!(unix) { 1 } else { 42 };
    async
}

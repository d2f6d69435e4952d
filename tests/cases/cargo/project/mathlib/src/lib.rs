#![no_std]

/// 10 when fast, plus 1 when slow: features add up.
pub fn speed() -> u32 {
    10 * cfg!(feature = "fast") as u32 + cfg!(feature = "slow") as u32
}

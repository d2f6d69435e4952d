//! Integers as decimal text by `itoa`.
#![no_std]

use harness::Words;

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    out.text(itoa::Buffer::new().format(i));
    out.text(itoa::Buffer::new().format(i64::MIN + i64::from(i) * 1_000_000_007));
    out.text(itoa::Buffer::new().format(u128::from(i) << 70));
}

harness::kernel!(itoa_case, 16, case);

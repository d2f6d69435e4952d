//! Vectors and strings of fixed capacity of `arrayvec`.
#![no_std]

use arrayvec::{ArrayString, ArrayVec};
use core::fmt::Write;
use harness::Words;

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let mut values: ArrayVec<u32, 16> = (0..12).map(|n| (n * 37 + i * 11) % 50).collect();
    values.sort_unstable();
    values.retain(|value| *value % 3 != 0);
    out.u32(values.len() as u32);
    values.insert(1, 99);
    let last = values.pop();
    out.u32(last.unwrap_or(0) + values.iter().sum::<u32>());
    out.u32(values.try_extend_from_slice(&[1; 16]).is_err().into());
    out.u32(values.drain(..2).sum());
    let mut text = ArrayString::<24>::new();
    write!(text, "{}-{:04x}", i, i * 77).unwrap();
    let mut bytes = [0; 24];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    out.bytes(&bytes);
}

harness::kernel!(arrayvec_case, 10, case);

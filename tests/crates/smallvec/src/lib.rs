//! `SmallVec` inside of its capacity and beyond it, on the heap.
#![no_std]

use harness::Words;
use smallvec::{SmallVec, smallvec};

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let mut values: SmallVec<[u32; 8]> = (0..i % 20).map(|n| n * n).collect();
    out.u32(u32::from(values.spilled()));
    out.u32(values.iter().sum());
    values.insert(0, i);
    values.dedup();
    values.shrink_to_fit();
    out.u32(values.len() as u32);
    values.truncate(4);
    out.u32(values.iter().rev().fold(0, |hash, value| hash * 31 + value));
    let both: SmallVec<[u32; 2]> = smallvec![i; 5];
    out.u32(both.into_vec().len() as u32);
}

harness::kernel!(smallvec_case, 5, case);

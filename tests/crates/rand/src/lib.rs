//! Random streams of `rand_xoshiro`, through the traits of `rand_core`.
#![no_std]

use harness::Words;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoroshiro64StarStar, Xoshiro128Plus, Xoshiro256PlusPlus};

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let mut stream = Xoshiro256PlusPlus::seed_from_u64(u64::from(i));
    out.u64(stream.next_u64());
    stream.jump();
    out.u64(stream.next_u64());
    let mut small = Xoroshiro64StarStar::from_seed([i as u8 + 1; 8]);
    out.u32(small.next_u32());
    let mut bytes = [0; 16];
    Xoshiro128Plus::from_rng(&mut small).fill_bytes(&mut bytes);
    out.bytes(&bytes);
    out.u32(SplitMix64::seed_from_u64(i.into()).next_u32());
}

harness::kernel!(rand_case, 10, case);

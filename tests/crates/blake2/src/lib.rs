//! BLAKE2s and BLAKE2b, plain and of variable output size.
#![no_std]

use blake2::digest::{Update, VariableOutput};
use blake2::{Blake2b512, Blake2bVar, Blake2s256, Digest as _};
use harness::Words;

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let message: [u8; 150] = core::array::from_fn(|n| (n as u32 ^ i) as u8);
    let text = &message[..(i as usize * 5) % message.len()];
    out.bytes(&Blake2s256::digest(text));
    let mut short = [0; 20];
    let mut hasher = Blake2bVar::new(short.len()).unwrap();
    hasher.update(text);
    hasher.finalize_variable(&mut short).unwrap();
    out.bytes(&short);
    out.bytes(&Blake2b512::digest(text)[..44]);
}

harness::kernel!(blake2_case, 24, case);

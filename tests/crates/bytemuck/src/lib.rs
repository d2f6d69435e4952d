//! Casts of `bytemuck` with its derive macros.
#![no_std]

use bytemuck::{Pod, Zeroable};
use harness::Words;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Particle {
    position: [f32; 3],
    id: u32,
}

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let particles = [0u32, 1].map(|k| Particle {
        position: [i as f32, k as f32, 0.5],
        id: i * 2 + k,
    });
    let bytes: &[u8] = bytemuck::cast_slice(&particles);
    out.bytes(&bytes[..24]);
    let words: &[u32] = bytemuck::cast_slice(bytes);
    out.u32(
        words
            .iter()
            .fold(0, |hash: u32, word| hash.rotate_left(5) ^ word),
    );
    out.u32(
        bytemuck::try_from_bytes::<Particle>(&bytes[1..17])
            .is_err()
            .into(),
    );
    out.u32(bytemuck::cast::<[u16; 2], u32>([i as u16, 7]));
    out.u32(bytemuck::Zeroable::zeroed());
}

harness::kernel!(bytemuck_case, 10, case);

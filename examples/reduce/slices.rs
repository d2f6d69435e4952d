//! What one thread of a grid sees of a slice.
#![no_std]

/// The elements of a slice that belong to the calling thread: every `gpu::global_size()`-th one,
/// so that any launch covers the whole slice and neighbours read neighbours.
#[inline]
pub fn mine<T: Copy>(elements: &[T]) -> impl Iterator<Item = T> {
    elements
        .iter()
        .skip(gpu::global_rank())
        .step_by(gpu::global_size())
        .copied()
}

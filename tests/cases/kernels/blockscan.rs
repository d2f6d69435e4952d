//! Exclusive scans over a block, for any monoid.
#![no_std]

use gpu::Shared;
use monoid::Monoid;

/// What stands before the thread's value, and the total of the block.
///
/// # Safety
/// All threads of the block, at most `N`, call this together with the same tile.
#[inline]
pub unsafe fn exclusive<M: Monoid, const N: usize>(tile: Shared<[M; N]>, value: M) -> (M, M) {
    let (rank, size) = (gpu::thread_rank() as usize, gpu::block_size() as usize);
    // SAFETY: reads and writes of one element are a barrier apart.
    unsafe {
        tile.write(rank, value);
        gpu::barrier();
        let mut distance = 1;
        while distance < size {
            let sum = if rank >= distance {
                tile.read(rank - distance).then(tile.read(rank))
            } else {
                tile.read(rank)
            };
            gpu::barrier();
            tile.write(rank, sum);
            gpu::barrier();
            distance *= 2;
        }
        let before = if rank == 0 {
            M::NEUTRAL
        } else {
            tile.read(rank - 1)
        };
        let total = tile.read(size - 1);
        gpu::barrier();
        (before, total)
    }
}

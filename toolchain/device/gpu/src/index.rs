//! Where a thread stands in its launch.
//!
//! A launch is a grid of blocks, a block a group of threads that share memory and barriers.
//! Indices count from 0; dimensions are counts. All are `u32`, as the hardware has them; the
//! `global_*` helpers give `usize`, ready for indexing.

use crate::primitives::{
    __fc_block_dim_x, __fc_block_dim_y, __fc_block_dim_z, __fc_block_idx_x, __fc_block_idx_y,
    __fc_block_idx_z, __fc_grid_dim_x, __fc_grid_dim_y, __fc_grid_dim_z, __fc_lane_id,
    __fc_thread_idx_x, __fc_thread_idx_y, __fc_thread_idx_z, __fc_warp_size,
};

/// Three indices or three counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dim3 {
    /// The first dimension, along which threads are neighbours.
    pub x: u32,
    /// The second dimension.
    pub y: u32,
    /// The third dimension.
    pub z: u32,
}

macro_rules! queries {
    ($($(#[$doc:meta])* $name:ident = $primitive:ident;)*) => {
        $(
            $(#[$doc])*
            #[inline(always)]
            #[must_use]
            pub fn $name() -> u32 {
                $primitive()
            }
        )*
    };
}

queries! {
    /// The thread's index in its block, dimension x.
    thread_idx_x = __fc_thread_idx_x;
    /// The thread's index in its block, dimension y.
    thread_idx_y = __fc_thread_idx_y;
    /// The thread's index in its block, dimension z.
    thread_idx_z = __fc_thread_idx_z;
    /// The block's index in the grid, dimension x.
    block_idx_x = __fc_block_idx_x;
    /// The block's index in the grid, dimension y.
    block_idx_y = __fc_block_idx_y;
    /// The block's index in the grid, dimension z.
    block_idx_z = __fc_block_idx_z;
    /// Threads per block, dimension x.
    block_dim_x = __fc_block_dim_x;
    /// Threads per block, dimension y.
    block_dim_y = __fc_block_dim_y;
    /// Threads per block, dimension z.
    block_dim_z = __fc_block_dim_z;
    /// Blocks in the grid, dimension x.
    grid_dim_x = __fc_grid_dim_x;
    /// Blocks in the grid, dimension y.
    grid_dim_y = __fc_grid_dim_y;
    /// Blocks in the grid, dimension z.
    grid_dim_z = __fc_grid_dim_z;
    /// The thread's index in its warp.
    lane_id = __fc_lane_id;
    /// Threads per warp: 32 on NVIDIA hardware and on the CPU.
    warp_size = __fc_warp_size;
}

/// The thread's index in its block.
#[inline(always)]
#[must_use]
pub fn thread_idx() -> Dim3 {
    Dim3 {
        x: thread_idx_x(),
        y: thread_idx_y(),
        z: thread_idx_z(),
    }
}

/// The block's index in the grid.
#[inline(always)]
#[must_use]
pub fn block_idx() -> Dim3 {
    Dim3 {
        x: block_idx_x(),
        y: block_idx_y(),
        z: block_idx_z(),
    }
}

/// Threads per block in each dimension.
#[inline(always)]
#[must_use]
pub fn block_dim() -> Dim3 {
    Dim3 {
        x: block_dim_x(),
        y: block_dim_y(),
        z: block_dim_z(),
    }
}

/// Blocks in the grid in each dimension.
#[inline(always)]
#[must_use]
pub fn grid_dim() -> Dim3 {
    Dim3 {
        x: grid_dim_x(),
        y: grid_dim_y(),
        z: grid_dim_z(),
    }
}

macro_rules! globals {
    ($($axis:literal $index:ident $size:ident: $thread:ident $block:ident $dim:ident $grid:ident;)*) => {
        $(
            #[doc = concat!("The thread's index in the whole grid, dimension ", $axis, ".")]
            #[inline(always)]
            #[must_use]
            pub fn $index() -> usize {
                $block() as usize * $dim() as usize + $thread() as usize
            }

            #[doc = concat!("Threads in the whole grid, dimension ", $axis, ".")]
            #[doc = concat!("The stride of a grid-stride loop from [`", stringify!($index), "`].")]
            #[inline(always)]
            #[must_use]
            pub fn $size() -> usize {
                $grid() as usize * $dim() as usize
            }
        )*
    };
}

globals! {
    "x" global_x global_size_x: thread_idx_x block_idx_x block_dim_x grid_dim_x;
    "y" global_y global_size_y: thread_idx_y block_idx_y block_dim_y grid_dim_y;
    "z" global_z global_size_z: thread_idx_z block_idx_z block_dim_z grid_dim_z;
}

/// The thread's position among all threads of its block, x fastest: 0 to `block_size() - 1`.
#[inline(always)]
#[must_use]
pub fn thread_rank() -> u32 {
    (thread_idx_z() * block_dim_y() + thread_idx_y()) * block_dim_x() + thread_idx_x()
}

/// Threads per block, all dimensions together.
#[inline(always)]
#[must_use]
pub fn block_size() -> u32 {
    block_dim_x() * block_dim_y() * block_dim_z()
}

/// The block's position among all blocks of the grid, x fastest: 0 to `grid_size() - 1`.
#[inline(always)]
#[must_use]
pub fn block_rank() -> usize {
    (block_idx_z() as usize * grid_dim_y() as usize + block_idx_y() as usize)
        * grid_dim_x() as usize
        + block_idx_x() as usize
}

/// Blocks in the grid, all dimensions together.
#[inline(always)]
#[must_use]
pub fn grid_size() -> usize {
    grid_dim_x() as usize * grid_dim_y() as usize * grid_dim_z() as usize
}

/// The thread's position among all threads of the grid, whatever its dimensions: block after
/// block, each thread once.
#[inline(always)]
#[must_use]
pub fn global_rank() -> usize {
    block_rank() * block_size() as usize + thread_rank() as usize
}

/// Threads in the whole grid, all dimensions together.
#[inline(always)]
#[must_use]
pub fn global_size() -> usize {
    grid_size() * block_size() as usize
}

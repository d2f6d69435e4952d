//! Portable primitives for GPU kernels.
//!
//! A kernel is a plain function of scalars and pointers:
//!
//! ```ignore
//! #![no_std]
//!
//! /// # Safety
//! /// `x` and `y` point to `n` elements.
//! #[unsafe(no_mangle)]
//! pub unsafe extern "gpu-kernel" fn saxpy(n: u32, a: f32, x: *const f32, y: *mut f32) {
//!     let i = gpu::global_x();
//!     if i < n as usize {
//!         // SAFETY: `i < n`, and each thread has its own element.
//!         unsafe { *y.add(i) += a * *x.add(i) };
//!     }
//! }
//! ```
//!
//! Everything rests on the `__fc_*` functions of [`primitives`], which the linker defines for
//! the back end at hand: NVIDIA, or the host's CPU in tests. Nothing here names a target.
//!
//! A panic ends the thread like [`trap`]. A crate may define its own `#[panic_handler]`.
#![no_std]
#![feature(
    allow_internal_unstable,
    const_type_name,
    core_intrinsics,
    ffi_const,
    linkage
)]
#![cfg_attr(not(feature = "panic-handler"), feature(rustc_attrs))]
#![allow(internal_features)]

pub mod feature;
pub mod index;
pub mod math;
mod panic;
pub mod primitives;
pub mod shared;
pub mod sync;

pub use feature::{Feature, arch, has};
pub use index::{
    Dim3, block_dim, block_dim_x, block_dim_y, block_dim_z, block_idx, block_idx_x, block_idx_y,
    block_idx_z, block_rank, block_size, global_rank, global_size, global_size_x, global_size_y,
    global_size_z, global_x, global_y, global_z, grid_dim, grid_dim_x, grid_dim_y, grid_dim_z,
    grid_size, lane_id, thread_idx, thread_idx_x, thread_idx_y, thread_idx_z, thread_rank,
    warp_size,
};
pub use math::Float;
pub use shared::{Shared, dynamic_shared, dynamic_shared_bytes};
pub use sync::{barrier, clock, fence_block, fence_device, fence_system, trap};

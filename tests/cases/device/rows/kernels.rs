//! Every row of `ops.rs` as a kernel over `n` packed records.
#![no_std]
#![feature(
    core_float_math,
    core_intrinsics,
    f16,
    float_algebraic,
    funnel_shifts,
    generic_const_exprs,
    int_roundings,
    macro_metavar_expr_concat,
    portable_simd,
    ptr_mask,
    uint_carryless_mul,
    repr_simd,
    variant_count,
    float_minimum_maximum
)]
#![allow(
    incomplete_features,
    internal_features,
    unused_imports,
    unused_macros,
    dead_code,
    stable_features,
    unused_unsafe
)]

macro_rules! row {
    ($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $body:expr) => {
        /// # Safety
        /// `x` and `out` point to `n` packed records.
        #[unsafe(no_mangle)]
        pub unsafe extern "gpu-kernel" fn $name(x: *const u8, out: *mut u8, n: usize) {
            let width = 0 $(+ size_of::<$type>())*;
            for i in (gpu::global_rank()..n).step_by(gpu::global_size()) {
                // SAFETY: `i < n`.
                unsafe {
                    let mut at = x.add(i * width);
                    $(
                        let $argument = at.cast::<$type>().read_unaligned();
                        #[allow(unused_assignments)]
                        { at = at.add(size_of::<$type>()); }
                    )*
                    let result: $result = $body;
                    out.cast::<$result>().add(i).write_unaligned(result);
                }
            }
        }
    };
}

/// Uninitialised memory that the block shares, a place of its own for each thread.
macro_rules! shared_slot {
    ($t:ty) => {
        gpu::shared!([core::mem::MaybeUninit<$t>; 33])
            .as_ptr()
            .cast::<$t>()
            .wrapping_add(gpu::thread_rank() as usize)
    };
}

include!("prelude.rs");
include!("ops.rs");
include!("language.rs");
include!("values.rs");

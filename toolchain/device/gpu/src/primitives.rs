//! The functions that differ between back ends.
//!
//! Declarations only: the linker defines them from `lto/backends/nvptx.ll` or
//! `lto/backends/cpu.ll`, except [`__fc_arch`] and [`__fc_has`], which code generation answers
//! for its architecture. Use the functions of the other modules; these are public for
//! libraries that build their own layer.
#![allow(missing_docs)]

/// Functions of their arguments and of the thread alone, so that equal calls may be merged.
macro_rules! pure {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
        unsafe extern "C" {
            $(
                #[unsafe(ffi_const)]
                pub safe fn $name($($arg: $type),*) -> $result;
            )*
        }
    };
}

pure! {
    __fc_thread_idx_x() -> u32;
    __fc_thread_idx_y() -> u32;
    __fc_thread_idx_z() -> u32;
    __fc_block_idx_x() -> u32;
    __fc_block_idx_y() -> u32;
    __fc_block_idx_z() -> u32;
    __fc_block_dim_x() -> u32;
    __fc_block_dim_y() -> u32;
    __fc_block_dim_z() -> u32;
    __fc_grid_dim_x() -> u32;
    __fc_grid_dim_y() -> u32;
    __fc_grid_dim_z() -> u32;
    __fc_lane_id() -> u32;
    __fc_warp_size() -> u32;
    __fc_dynamic_shared() -> *mut u8;
    __fc_dynamic_shared_bytes() -> u32;
    __fc_arch() -> u32;
    __fc_has(feature: u32) -> bool;
}

unsafe extern "C" {
    pub safe fn __fc_barrier();
    pub safe fn __fc_fence_block();
    pub safe fn __fc_fence_device();
    pub safe fn __fc_fence_system();
    pub safe fn __fc_clock() -> u64;
    pub safe fn __fc_trap() -> !;
}

pure! {
    __fc_tan_f32(x: f32) -> f32;
    __fc_tan_f64(x: f64) -> f64;
    __fc_asin_f32(x: f32) -> f32;
    __fc_asin_f64(x: f64) -> f64;
    __fc_acos_f32(x: f32) -> f32;
    __fc_acos_f64(x: f64) -> f64;
    __fc_atan_f32(x: f32) -> f32;
    __fc_atan_f64(x: f64) -> f64;
    __fc_sinh_f32(x: f32) -> f32;
    __fc_sinh_f64(x: f64) -> f64;
    __fc_cosh_f32(x: f32) -> f32;
    __fc_cosh_f64(x: f64) -> f64;
    __fc_tanh_f32(x: f32) -> f32;
    __fc_tanh_f64(x: f64) -> f64;
    __fc_asinh_f32(x: f32) -> f32;
    __fc_asinh_f64(x: f64) -> f64;
    __fc_acosh_f32(x: f32) -> f32;
    __fc_acosh_f64(x: f64) -> f64;
    __fc_atanh_f32(x: f32) -> f32;
    __fc_atanh_f64(x: f64) -> f64;
    __fc_cbrt_f32(x: f32) -> f32;
    __fc_cbrt_f64(x: f64) -> f64;
    __fc_rcbrt_f32(x: f32) -> f32;
    __fc_rcbrt_f64(x: f64) -> f64;
    __fc_rsqrt_f32(x: f32) -> f32;
    __fc_rsqrt_f64(x: f64) -> f64;
    __fc_expm1_f32(x: f32) -> f32;
    __fc_expm1_f64(x: f64) -> f64;
    __fc_log1p_f32(x: f32) -> f32;
    __fc_log1p_f64(x: f64) -> f64;
    __fc_exp10_f32(x: f32) -> f32;
    __fc_exp10_f64(x: f64) -> f64;
    __fc_erf_f32(x: f32) -> f32;
    __fc_erf_f64(x: f64) -> f64;
    __fc_erfc_f32(x: f32) -> f32;
    __fc_erfc_f64(x: f64) -> f64;
    __fc_erfinv_f32(x: f32) -> f32;
    __fc_erfinv_f64(x: f64) -> f64;
    __fc_tgamma_f32(x: f32) -> f32;
    __fc_tgamma_f64(x: f64) -> f64;
    __fc_lgamma_f32(x: f32) -> f32;
    __fc_lgamma_f64(x: f64) -> f64;
    __fc_sinpi_f32(x: f32) -> f32;
    __fc_sinpi_f64(x: f64) -> f64;
    __fc_cospi_f32(x: f32) -> f32;
    __fc_cospi_f64(x: f64) -> f64;
    __fc_j0_f32(x: f32) -> f32;
    __fc_j0_f64(x: f64) -> f64;
    __fc_j1_f32(x: f32) -> f32;
    __fc_j1_f64(x: f64) -> f64;
    __fc_y0_f32(x: f32) -> f32;
    __fc_y0_f64(x: f64) -> f64;
    __fc_y1_f32(x: f32) -> f32;
    __fc_y1_f64(x: f64) -> f64;
}

pure! {
    __fc_atan2_f32(x: f32, y: f32) -> f32;
    __fc_atan2_f64(x: f64, y: f64) -> f64;
    __fc_hypot_f32(x: f32, y: f32) -> f32;
    __fc_hypot_f64(x: f64, y: f64) -> f64;
    __fc_fmod_f32(x: f32, y: f32) -> f32;
    __fc_fmod_f64(x: f64, y: f64) -> f64;
    __fc_remainder_f32(x: f32, y: f32) -> f32;
    __fc_remainder_f64(x: f64, y: f64) -> f64;
    __fc_fdim_f32(x: f32, y: f32) -> f32;
    __fc_fdim_f64(x: f64, y: f64) -> f64;
    __fc_nextafter_f32(x: f32, y: f32) -> f32;
    __fc_nextafter_f64(x: f64, y: f64) -> f64;
}

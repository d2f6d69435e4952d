; Hardware primitives of the device library for the host's CPU.
;
; The CPU runner (lto/cpu) links this instead of nvptx.ll, the other row: both define the same
; functions with the same types. A thread is a fiber; the runner's state says where in the
; launch it stands, and the two functions below that take a site suspend or end it. Math
; functions forward to libdevice's names, which the runner defines with the host's libm.
;
; No triple and no data layout: the runner sets those of the host.

; Head of the runner's state; must agree with lto/cpu/runtime.ll and lto/cpu/state.py.
%fc.head = type {
  i32, i32, i32, ; thread index
  i32, i32, i32, ; block index
  i32, i32, i32, ; block dimensions
  i32, i32, i32, ; grid dimensions
  i32,           ; bytes of dynamic shared memory
  i32,           ; threads per block
  i32,           ; rank of the running thread in its block
  i32,           ; rule for divergent barriers
  ptr            ; start of dynamic shared memory
}

@__fc_cpu_state = external constant ptr

declare void @__fc_cpu_barrier(i32)
declare void @__fc_cpu_trap(i32)

; --- Position in the launch ------------------------------------------------------------

define i32 @__fc_thread_idx_x() #0 {
  %s = load ptr, ptr @__fc_cpu_state
  %p = getelementptr %fc.head, ptr %s, i32 0, i32 0
  %v = load i32, ptr %p
  ret i32 %v
}
define i32 @__fc_thread_idx_y() #0 {
  %s = load ptr, ptr @__fc_cpu_state
  %p = getelementptr %fc.head, ptr %s, i32 0, i32 1
  %v = load i32, ptr %p
  ret i32 %v
}
define i32 @__fc_thread_idx_z() #0 {
  %s = load ptr, ptr @__fc_cpu_state
  %p = getelementptr %fc.head, ptr %s, i32 0, i32 2
  %v = load i32, ptr %p
  ret i32 %v
}
define i32 @__fc_block_idx_x() #0 {
  %s = load ptr, ptr @__fc_cpu_state
  %p = getelementptr %fc.head, ptr %s, i32 0, i32 3
  %v = load i32, ptr %p
  ret i32 %v
}
define i32 @__fc_block_idx_y() #0 {
  %s = load ptr, ptr @__fc_cpu_state
  %p = getelementptr %fc.head, ptr %s, i32 0, i32 4
  %v = load i32, ptr %p
  ret i32 %v
}
define i32 @__fc_block_idx_z() #0 {
  %s = load ptr, ptr @__fc_cpu_state
  %p = getelementptr %fc.head, ptr %s, i32 0, i32 5
  %v = load i32, ptr %p
  ret i32 %v
}
define i32 @__fc_block_dim_x() #0 {
  %s = load ptr, ptr @__fc_cpu_state
  %p = getelementptr %fc.head, ptr %s, i32 0, i32 6
  %v = load i32, ptr %p
  ret i32 %v
}
define i32 @__fc_block_dim_y() #0 {
  %s = load ptr, ptr @__fc_cpu_state
  %p = getelementptr %fc.head, ptr %s, i32 0, i32 7
  %v = load i32, ptr %p
  ret i32 %v
}
define i32 @__fc_block_dim_z() #0 {
  %s = load ptr, ptr @__fc_cpu_state
  %p = getelementptr %fc.head, ptr %s, i32 0, i32 8
  %v = load i32, ptr %p
  ret i32 %v
}
define i32 @__fc_grid_dim_x() #0 {
  %s = load ptr, ptr @__fc_cpu_state
  %p = getelementptr %fc.head, ptr %s, i32 0, i32 9
  %v = load i32, ptr %p
  ret i32 %v
}
define i32 @__fc_grid_dim_y() #0 {
  %s = load ptr, ptr @__fc_cpu_state
  %p = getelementptr %fc.head, ptr %s, i32 0, i32 10
  %v = load i32, ptr %p
  ret i32 %v
}
define i32 @__fc_grid_dim_z() #0 {
  %s = load ptr, ptr @__fc_cpu_state
  %p = getelementptr %fc.head, ptr %s, i32 0, i32 11
  %v = load i32, ptr %p
  ret i32 %v
}

; Warps of 32 threads in the order of their ranks, as NVIDIA hardware forms them.
define i32 @__fc_lane_id() #0 {
  %s = load ptr, ptr @__fc_cpu_state
  %p = getelementptr %fc.head, ptr %s, i32 0, i32 14
  %rank = load i32, ptr %p
  %v = and i32 %rank, 31
  ret i32 %v
}
define i32 @__fc_warp_size() #0 {
  ret i32 32
}

; --- Synchronisation -------------------------------------------------------------------

; The runner gives each call in the crates' code a site of its own and calls
; @__fc_cpu_barrier itself; site 0 stands for calls through pointers.
define void @__fc_barrier() #1 {
  call void @__fc_cpu_barrier(i32 0)
  ret void
}

; Threads run one at a time, so that memory is always in order; the fence keeps the compiler
; to it.
define void @__fc_fence_block() #1 {
  fence seq_cst
  ret void
}
define void @__fc_fence_device() #1 {
  fence seq_cst
  ret void
}
define void @__fc_fence_system() #1 {
  fence seq_cst
  ret void
}

define void @__fc_trap() #2 {
  call void @__fc_cpu_trap(i32 0)
  unreachable
}

; --- Dynamic shared memory -------------------------------------------------------------

define ptr @__fc_dynamic_shared() #0 {
  %s = load ptr, ptr @__fc_cpu_state
  %p = getelementptr %fc.head, ptr %s, i32 0, i32 16
  %v = load ptr, ptr %p
  ret ptr %v
}
define i32 @__fc_dynamic_shared_bytes() #0 {
  %s = load ptr, ptr @__fc_cpu_state
  %p = getelementptr %fc.head, ptr %s, i32 0, i32 12
  %v = load i32, ptr %p
  ret i32 %v
}

; --- Clock -----------------------------------------------------------------------------

define i64 @__fc_clock() #1 {
  %v = call i64 @llvm.readcyclecounter()
  ret i64 %v
}

; --- Math without an LLVM intrinsic in Rust --------------------------------------------

define float @__fc_tan_f32(float %x) #0 {
  %v = call float @__nv_tanf(float %x)
  ret float %v
}
define double @__fc_tan_f64(double %x) #0 {
  %v = call double @__nv_tan(double %x)
  ret double %v
}
define float @__fc_asin_f32(float %x) #0 {
  %v = call float @__nv_asinf(float %x)
  ret float %v
}
define double @__fc_asin_f64(double %x) #0 {
  %v = call double @__nv_asin(double %x)
  ret double %v
}
define float @__fc_acos_f32(float %x) #0 {
  %v = call float @__nv_acosf(float %x)
  ret float %v
}
define double @__fc_acos_f64(double %x) #0 {
  %v = call double @__nv_acos(double %x)
  ret double %v
}
define float @__fc_atan_f32(float %x) #0 {
  %v = call float @__nv_atanf(float %x)
  ret float %v
}
define double @__fc_atan_f64(double %x) #0 {
  %v = call double @__nv_atan(double %x)
  ret double %v
}
define float @__fc_sinh_f32(float %x) #0 {
  %v = call float @__nv_sinhf(float %x)
  ret float %v
}
define double @__fc_sinh_f64(double %x) #0 {
  %v = call double @__nv_sinh(double %x)
  ret double %v
}
define float @__fc_cosh_f32(float %x) #0 {
  %v = call float @__nv_coshf(float %x)
  ret float %v
}
define double @__fc_cosh_f64(double %x) #0 {
  %v = call double @__nv_cosh(double %x)
  ret double %v
}
define float @__fc_tanh_f32(float %x) #0 {
  %v = call float @__nv_tanhf(float %x)
  ret float %v
}
define double @__fc_tanh_f64(double %x) #0 {
  %v = call double @__nv_tanh(double %x)
  ret double %v
}
define float @__fc_asinh_f32(float %x) #0 {
  %v = call float @__nv_asinhf(float %x)
  ret float %v
}
define double @__fc_asinh_f64(double %x) #0 {
  %v = call double @__nv_asinh(double %x)
  ret double %v
}
define float @__fc_acosh_f32(float %x) #0 {
  %v = call float @__nv_acoshf(float %x)
  ret float %v
}
define double @__fc_acosh_f64(double %x) #0 {
  %v = call double @__nv_acosh(double %x)
  ret double %v
}
define float @__fc_atanh_f32(float %x) #0 {
  %v = call float @__nv_atanhf(float %x)
  ret float %v
}
define double @__fc_atanh_f64(double %x) #0 {
  %v = call double @__nv_atanh(double %x)
  ret double %v
}
define float @__fc_cbrt_f32(float %x) #0 {
  %v = call float @__nv_cbrtf(float %x)
  ret float %v
}
define double @__fc_cbrt_f64(double %x) #0 {
  %v = call double @__nv_cbrt(double %x)
  ret double %v
}
define float @__fc_rcbrt_f32(float %x) #0 {
  %v = call float @__nv_rcbrtf(float %x)
  ret float %v
}
define double @__fc_rcbrt_f64(double %x) #0 {
  %v = call double @__nv_rcbrt(double %x)
  ret double %v
}
define float @__fc_rsqrt_f32(float %x) #0 {
  %v = call float @__nv_rsqrtf(float %x)
  ret float %v
}
define double @__fc_rsqrt_f64(double %x) #0 {
  %v = call double @__nv_rsqrt(double %x)
  ret double %v
}
define float @__fc_expm1_f32(float %x) #0 {
  %v = call float @__nv_expm1f(float %x)
  ret float %v
}
define double @__fc_expm1_f64(double %x) #0 {
  %v = call double @__nv_expm1(double %x)
  ret double %v
}
define float @__fc_log1p_f32(float %x) #0 {
  %v = call float @__nv_log1pf(float %x)
  ret float %v
}
define double @__fc_log1p_f64(double %x) #0 {
  %v = call double @__nv_log1p(double %x)
  ret double %v
}
define float @__fc_exp10_f32(float %x) #0 {
  %v = call float @__nv_exp10f(float %x)
  ret float %v
}
define double @__fc_exp10_f64(double %x) #0 {
  %v = call double @__nv_exp10(double %x)
  ret double %v
}
define float @__fc_erf_f32(float %x) #0 {
  %v = call float @__nv_erff(float %x)
  ret float %v
}
define double @__fc_erf_f64(double %x) #0 {
  %v = call double @__nv_erf(double %x)
  ret double %v
}
define float @__fc_erfc_f32(float %x) #0 {
  %v = call float @__nv_erfcf(float %x)
  ret float %v
}
define double @__fc_erfc_f64(double %x) #0 {
  %v = call double @__nv_erfc(double %x)
  ret double %v
}
define float @__fc_erfinv_f32(float %x) #0 {
  %v = call float @__nv_erfinvf(float %x)
  ret float %v
}
define double @__fc_erfinv_f64(double %x) #0 {
  %v = call double @__nv_erfinv(double %x)
  ret double %v
}
define float @__fc_tgamma_f32(float %x) #0 {
  %v = call float @__nv_tgammaf(float %x)
  ret float %v
}
define double @__fc_tgamma_f64(double %x) #0 {
  %v = call double @__nv_tgamma(double %x)
  ret double %v
}
define float @__fc_lgamma_f32(float %x) #0 {
  %v = call float @__nv_lgammaf(float %x)
  ret float %v
}
define double @__fc_lgamma_f64(double %x) #0 {
  %v = call double @__nv_lgamma(double %x)
  ret double %v
}
define float @__fc_sinpi_f32(float %x) #0 {
  %v = call float @__nv_sinpif(float %x)
  ret float %v
}
define double @__fc_sinpi_f64(double %x) #0 {
  %v = call double @__nv_sinpi(double %x)
  ret double %v
}
define float @__fc_cospi_f32(float %x) #0 {
  %v = call float @__nv_cospif(float %x)
  ret float %v
}
define double @__fc_cospi_f64(double %x) #0 {
  %v = call double @__nv_cospi(double %x)
  ret double %v
}
define float @__fc_j0_f32(float %x) #0 {
  %v = call float @__nv_j0f(float %x)
  ret float %v
}
define double @__fc_j0_f64(double %x) #0 {
  %v = call double @__nv_j0(double %x)
  ret double %v
}
define float @__fc_j1_f32(float %x) #0 {
  %v = call float @__nv_j1f(float %x)
  ret float %v
}
define double @__fc_j1_f64(double %x) #0 {
  %v = call double @__nv_j1(double %x)
  ret double %v
}
define float @__fc_y0_f32(float %x) #0 {
  %v = call float @__nv_y0f(float %x)
  ret float %v
}
define double @__fc_y0_f64(double %x) #0 {
  %v = call double @__nv_y0(double %x)
  ret double %v
}
define float @__fc_y1_f32(float %x) #0 {
  %v = call float @__nv_y1f(float %x)
  ret float %v
}
define double @__fc_y1_f64(double %x) #0 {
  %v = call double @__nv_y1(double %x)
  ret double %v
}
define float @__fc_atan2_f32(float %x, float %y) #0 {
  %v = call float @__nv_atan2f(float %x, float %y)
  ret float %v
}
define double @__fc_atan2_f64(double %x, double %y) #0 {
  %v = call double @__nv_atan2(double %x, double %y)
  ret double %v
}
define float @__fc_hypot_f32(float %x, float %y) #0 {
  %v = call float @__nv_hypotf(float %x, float %y)
  ret float %v
}
define double @__fc_hypot_f64(double %x, double %y) #0 {
  %v = call double @__nv_hypot(double %x, double %y)
  ret double %v
}
define float @__fc_fmod_f32(float %x, float %y) #0 {
  %v = call float @__nv_fmodf(float %x, float %y)
  ret float %v
}
define double @__fc_fmod_f64(double %x, double %y) #0 {
  %v = call double @__nv_fmod(double %x, double %y)
  ret double %v
}
define float @__fc_remainder_f32(float %x, float %y) #0 {
  %v = call float @__nv_remainderf(float %x, float %y)
  ret float %v
}
define double @__fc_remainder_f64(double %x, double %y) #0 {
  %v = call double @__nv_remainder(double %x, double %y)
  ret double %v
}
define float @__fc_fdim_f32(float %x, float %y) #0 {
  %v = call float @__nv_fdimf(float %x, float %y)
  ret float %v
}
define double @__fc_fdim_f64(double %x, double %y) #0 {
  %v = call double @__nv_fdim(double %x, double %y)
  ret double %v
}
define float @__fc_nextafter_f32(float %x, float %y) #0 {
  %v = call float @__nv_nextafterf(float %x, float %y)
  ret float %v
}
define double @__fc_nextafter_f64(double %x, double %y) #0 {
  %v = call double @__nv_nextafter(double %x, double %y)
  ret double %v
}

declare double @__nv_acos(double)
declare double @__nv_acosh(double)
declare double @__nv_asin(double)
declare double @__nv_asinh(double)
declare double @__nv_atan(double)
declare double @__nv_atan2(double, double)
declare double @__nv_atanh(double)
declare double @__nv_cbrt(double)
declare double @__nv_cosh(double)
declare double @__nv_cospi(double)
declare double @__nv_erf(double)
declare double @__nv_erfc(double)
declare double @__nv_erfinv(double)
declare double @__nv_exp10(double)
declare double @__nv_expm1(double)
declare double @__nv_fdim(double, double)
declare double @__nv_fmod(double, double)
declare double @__nv_hypot(double, double)
declare double @__nv_j0(double)
declare double @__nv_j1(double)
declare double @__nv_lgamma(double)
declare double @__nv_log1p(double)
declare double @__nv_nextafter(double, double)
declare double @__nv_rcbrt(double)
declare double @__nv_remainder(double, double)
declare double @__nv_rsqrt(double)
declare double @__nv_sinh(double)
declare double @__nv_sinpi(double)
declare double @__nv_tan(double)
declare double @__nv_tanh(double)
declare double @__nv_tgamma(double)
declare double @__nv_y0(double)
declare double @__nv_y1(double)
declare float @__nv_acosf(float)
declare float @__nv_acoshf(float)
declare float @__nv_asinf(float)
declare float @__nv_asinhf(float)
declare float @__nv_atan2f(float, float)
declare float @__nv_atanf(float)
declare float @__nv_atanhf(float)
declare float @__nv_cbrtf(float)
declare float @__nv_coshf(float)
declare float @__nv_cospif(float)
declare float @__nv_erfcf(float)
declare float @__nv_erff(float)
declare float @__nv_erfinvf(float)
declare float @__nv_exp10f(float)
declare float @__nv_expm1f(float)
declare float @__nv_fdimf(float, float)
declare float @__nv_fmodf(float, float)
declare float @__nv_hypotf(float, float)
declare float @__nv_j0f(float)
declare float @__nv_j1f(float)
declare float @__nv_lgammaf(float)
declare float @__nv_log1pf(float)
declare float @__nv_nextafterf(float, float)
declare float @__nv_rcbrtf(float)
declare float @__nv_remainderf(float, float)
declare float @__nv_rsqrtf(float)
declare float @__nv_sinhf(float)
declare float @__nv_sinpif(float)
declare float @__nv_tanf(float)
declare float @__nv_tanhf(float)
declare float @__nv_tgammaf(float)
declare float @__nv_y0f(float)
declare float @__nv_y1f(float)
declare i64 @llvm.readcyclecounter()

; 0: reads the state or computes; 1: takes part in synchronisation; 2: does not return.
attributes #0 = { alwaysinline nounwind }
attributes #1 = { alwaysinline convergent nounwind }
attributes #2 = { alwaysinline noreturn nounwind }

; Hardware primitives of the device library for nvptx64-nvidia-cuda.
;
; LINK takes from here what the crates refer to and makes it internal; CODEGEN inlines it.
; Signatures are a contract with toolchain/device/gpu (declarations) and cpu.ll (the other
; row). Math functions forward to libdevice (`__nv_*`), which LINK supplies as needed.

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; --- Position in the launch ------------------------------------------------------------

define i32 @__fc_thread_idx_x() #0 { %v = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()  ret i32 %v }
define i32 @__fc_thread_idx_y() #0 { %v = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()  ret i32 %v }
define i32 @__fc_thread_idx_z() #0 { %v = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()  ret i32 %v }
define i32 @__fc_block_idx_x() #0 { %v = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()  ret i32 %v }
define i32 @__fc_block_idx_y() #0 { %v = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()  ret i32 %v }
define i32 @__fc_block_idx_z() #0 { %v = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()  ret i32 %v }
define i32 @__fc_block_dim_x() #0 { %v = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()  ret i32 %v }
define i32 @__fc_block_dim_y() #0 { %v = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()  ret i32 %v }
define i32 @__fc_block_dim_z() #0 { %v = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()  ret i32 %v }
define i32 @__fc_grid_dim_x() #0 { %v = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()  ret i32 %v }
define i32 @__fc_grid_dim_y() #0 { %v = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()  ret i32 %v }
define i32 @__fc_grid_dim_z() #0 { %v = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()  ret i32 %v }
define i32 @__fc_lane_id() #0 { %v = call i32 @llvm.nvvm.read.ptx.sreg.laneid()  ret i32 %v }
define i32 @__fc_warp_size() #0 { %v = call i32 @llvm.nvvm.read.ptx.sreg.warpsize()  ret i32 %v }

; --- Synchronisation -------------------------------------------------------------------

; All threads of the block reach it; memory written before is seen after.
define void @__fc_barrier() #1 {
  call void @llvm.nvvm.barrier0()
  ret void
}

define void @__fc_fence_block() #1 {
  call void @llvm.nvvm.membar.cta()
  ret void
}

define void @__fc_fence_device() #1 {
  call void @llvm.nvvm.membar.gl()
  ret void
}

define void @__fc_fence_system() #1 {
  call void @llvm.nvvm.membar.sys()
  ret void
}

define void @__fc_trap() #2 {
  call void @llvm.trap()
  unreachable
}

; --- Dynamic shared memory -------------------------------------------------------------

@__fc_dynamic_shared.mem = external addrspace(3) global [0 x i8], align 16

define ptr @__fc_dynamic_shared() #0 {
  ret ptr addrspacecast (ptr addrspace(3) @__fc_dynamic_shared.mem to ptr)
}

define i32 @__fc_dynamic_shared_bytes() #0 { %v = call i32 asm "mov.u32 $0, %dynamic_smem_size;", "=r"()  ret i32 %v }

; --- Clock -----------------------------------------------------------------------------

define i64 @__fc_clock() #1 { %v = call i64 @llvm.nvvm.read.ptx.sreg.clock64()  ret i64 %v }

; --- Math without an LLVM intrinsic in Rust --------------------------------------------

define float @__fc_tan_f32(float %x) #0 { %v = call float @__nv_tanf(float %x)  ret float %v }
define double @__fc_tan_f64(double %x) #0 { %v = call double @__nv_tan(double %x)  ret double %v }
define float @__fc_asin_f32(float %x) #0 { %v = call float @__nv_asinf(float %x)  ret float %v }
define double @__fc_asin_f64(double %x) #0 { %v = call double @__nv_asin(double %x)  ret double %v }
define float @__fc_acos_f32(float %x) #0 { %v = call float @__nv_acosf(float %x)  ret float %v }
define double @__fc_acos_f64(double %x) #0 { %v = call double @__nv_acos(double %x)  ret double %v }
define float @__fc_atan_f32(float %x) #0 { %v = call float @__nv_atanf(float %x)  ret float %v }
define double @__fc_atan_f64(double %x) #0 { %v = call double @__nv_atan(double %x)  ret double %v }
define float @__fc_sinh_f32(float %x) #0 { %v = call float @__nv_sinhf(float %x)  ret float %v }
define double @__fc_sinh_f64(double %x) #0 { %v = call double @__nv_sinh(double %x)  ret double %v }
define float @__fc_cosh_f32(float %x) #0 { %v = call float @__nv_coshf(float %x)  ret float %v }
define double @__fc_cosh_f64(double %x) #0 { %v = call double @__nv_cosh(double %x)  ret double %v }
define float @__fc_tanh_f32(float %x) #0 { %v = call float @__nv_tanhf(float %x)  ret float %v }
define double @__fc_tanh_f64(double %x) #0 { %v = call double @__nv_tanh(double %x)  ret double %v }
define float @__fc_asinh_f32(float %x) #0 { %v = call float @__nv_asinhf(float %x)  ret float %v }
define double @__fc_asinh_f64(double %x) #0 { %v = call double @__nv_asinh(double %x)  ret double %v }
define float @__fc_acosh_f32(float %x) #0 { %v = call float @__nv_acoshf(float %x)  ret float %v }
define double @__fc_acosh_f64(double %x) #0 { %v = call double @__nv_acosh(double %x)  ret double %v }
define float @__fc_atanh_f32(float %x) #0 { %v = call float @__nv_atanhf(float %x)  ret float %v }
define double @__fc_atanh_f64(double %x) #0 { %v = call double @__nv_atanh(double %x)  ret double %v }
define float @__fc_cbrt_f32(float %x) #0 { %v = call float @__nv_cbrtf(float %x)  ret float %v }
define double @__fc_cbrt_f64(double %x) #0 { %v = call double @__nv_cbrt(double %x)  ret double %v }
define float @__fc_rcbrt_f32(float %x) #0 { %v = call float @__nv_rcbrtf(float %x)  ret float %v }
define double @__fc_rcbrt_f64(double %x) #0 { %v = call double @__nv_rcbrt(double %x)  ret double %v }
define float @__fc_rsqrt_f32(float %x) #0 { %v = call float @__nv_rsqrtf(float %x)  ret float %v }
define double @__fc_rsqrt_f64(double %x) #0 { %v = call double @__nv_rsqrt(double %x)  ret double %v }
define float @__fc_expm1_f32(float %x) #0 { %v = call float @__nv_expm1f(float %x)  ret float %v }
define double @__fc_expm1_f64(double %x) #0 { %v = call double @__nv_expm1(double %x)  ret double %v }
define float @__fc_log1p_f32(float %x) #0 { %v = call float @__nv_log1pf(float %x)  ret float %v }
define double @__fc_log1p_f64(double %x) #0 { %v = call double @__nv_log1p(double %x)  ret double %v }
define float @__fc_exp10_f32(float %x) #0 { %v = call float @__nv_exp10f(float %x)  ret float %v }
define double @__fc_exp10_f64(double %x) #0 { %v = call double @__nv_exp10(double %x)  ret double %v }
define float @__fc_erf_f32(float %x) #0 { %v = call float @__nv_erff(float %x)  ret float %v }
define double @__fc_erf_f64(double %x) #0 { %v = call double @__nv_erf(double %x)  ret double %v }
define float @__fc_erfc_f32(float %x) #0 { %v = call float @__nv_erfcf(float %x)  ret float %v }
define double @__fc_erfc_f64(double %x) #0 { %v = call double @__nv_erfc(double %x)  ret double %v }
define float @__fc_erfinv_f32(float %x) #0 { %v = call float @__nv_erfinvf(float %x)  ret float %v }
define double @__fc_erfinv_f64(double %x) #0 { %v = call double @__nv_erfinv(double %x)  ret double %v }
define float @__fc_tgamma_f32(float %x) #0 { %v = call float @__nv_tgammaf(float %x)  ret float %v }
define double @__fc_tgamma_f64(double %x) #0 { %v = call double @__nv_tgamma(double %x)  ret double %v }
define float @__fc_lgamma_f32(float %x) #0 { %v = call float @__nv_lgammaf(float %x)  ret float %v }
define double @__fc_lgamma_f64(double %x) #0 { %v = call double @__nv_lgamma(double %x)  ret double %v }
define float @__fc_sinpi_f32(float %x) #0 { %v = call float @__nv_sinpif(float %x)  ret float %v }
define double @__fc_sinpi_f64(double %x) #0 { %v = call double @__nv_sinpi(double %x)  ret double %v }
define float @__fc_cospi_f32(float %x) #0 { %v = call float @__nv_cospif(float %x)  ret float %v }
define double @__fc_cospi_f64(double %x) #0 { %v = call double @__nv_cospi(double %x)  ret double %v }
define float @__fc_j0_f32(float %x) #0 { %v = call float @__nv_j0f(float %x)  ret float %v }
define double @__fc_j0_f64(double %x) #0 { %v = call double @__nv_j0(double %x)  ret double %v }
define float @__fc_j1_f32(float %x) #0 { %v = call float @__nv_j1f(float %x)  ret float %v }
define double @__fc_j1_f64(double %x) #0 { %v = call double @__nv_j1(double %x)  ret double %v }
define float @__fc_y0_f32(float %x) #0 { %v = call float @__nv_y0f(float %x)  ret float %v }
define double @__fc_y0_f64(double %x) #0 { %v = call double @__nv_y0(double %x)  ret double %v }
define float @__fc_y1_f32(float %x) #0 { %v = call float @__nv_y1f(float %x)  ret float %v }
define double @__fc_y1_f64(double %x) #0 { %v = call double @__nv_y1(double %x)  ret double %v }
define float @__fc_atan2_f32(float %x, float %y) #0 { %v = call float @__nv_atan2f(float %x, float %y)  ret float %v }
define double @__fc_atan2_f64(double %x, double %y) #0 { %v = call double @__nv_atan2(double %x, double %y)  ret double %v }
define float @__fc_hypot_f32(float %x, float %y) #0 { %v = call float @__nv_hypotf(float %x, float %y)  ret float %v }
define double @__fc_hypot_f64(double %x, double %y) #0 { %v = call double @__nv_hypot(double %x, double %y)  ret double %v }
define float @__fc_fmod_f32(float %x, float %y) #0 { %v = call float @__nv_fmodf(float %x, float %y)  ret float %v }
define double @__fc_fmod_f64(double %x, double %y) #0 { %v = call double @__nv_fmod(double %x, double %y)  ret double %v }
define float @__fc_remainder_f32(float %x, float %y) #0 { %v = call float @__nv_remainderf(float %x, float %y)  ret float %v }
define double @__fc_remainder_f64(double %x, double %y) #0 { %v = call double @__nv_remainder(double %x, double %y)  ret double %v }
define float @__fc_fdim_f32(float %x, float %y) #0 { %v = call float @__nv_fdimf(float %x, float %y)  ret float %v }
define double @__fc_fdim_f64(double %x, double %y) #0 { %v = call double @__nv_fdim(double %x, double %y)  ret double %v }
define float @__fc_nextafter_f32(float %x, float %y) #0 { %v = call float @__nv_nextafterf(float %x, float %y)  ret float %v }
define double @__fc_nextafter_f64(double %x, double %y) #0 { %v = call double @__nv_nextafter(double %x, double %y)  ret double %v }
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
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare i32 @llvm.nvvm.read.ptx.sreg.warpsize()
declare i64 @llvm.nvvm.read.ptx.sreg.clock64()
declare void @llvm.nvvm.barrier0()
declare void @llvm.nvvm.membar.cta()
declare void @llvm.nvvm.membar.gl()
declare void @llvm.nvvm.membar.sys()
declare void @llvm.trap()

; 0: reads registers or computes; 1: takes part in synchronisation; 2: does not return.
attributes #0 = { alwaysinline nounwind }
attributes #1 = { alwaysinline convergent nounwind }
attributes #2 = { alwaysinline noreturn nounwind }

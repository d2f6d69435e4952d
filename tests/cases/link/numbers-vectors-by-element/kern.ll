target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @swap(ptr %p) {
  %q = getelementptr i8, ptr %p, i64 16
  %a = load <4 x i32>, ptr %p, align 4
  %b = load <2 x i32>, ptr %q, align 4
  %c = call <4 x i32> @llvm.bswap.v4i32(<4 x i32> %a)
  %d = call <2 x i32> @llvm.bswap.v2i32(<2 x i32> %b)
  store <4 x i32> %c, ptr %p, align 4
  store <2 x i32> %d, ptr %q, align 4
  ret void
}
define ptx_kernel void @multiply(ptr %p) {
  %q = getelementptr i8, ptr %p, i64 16
  %a = load <4 x i32>, ptr %p, align 4
  %b = load <4 x i32>, ptr %q, align 4
  %c = call <4 x i32> @llvm.clmul.v4i32(<4 x i32> %a, <4 x i32> %b)
  store <4 x i32> %c, ptr %p, align 4
  ret void
}
define ptx_kernel void @quiet(ptr %p) {
  %a = load <4 x float>, ptr %p, align 4
  %c = call <4 x float> @llvm.canonicalize.v4f32(<4 x float> %a)
  store <4 x float> %c, ptr %p, align 4
  ret void
}
declare <4 x i32> @llvm.bswap.v4i32(<4 x i32>)
declare <2 x i32> @llvm.bswap.v2i32(<2 x i32>)
declare <4 x i32> @llvm.clmul.v4i32(<4 x i32>, <4 x i32>)
declare <4 x float> @llvm.canonicalize.v4f32(<4 x float>)

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr %p) {
  %a = load bfloat, ptr %p
  %q = getelementptr bfloat, ptr %p, i64 1
  %b = load bfloat, ptr %q
  %s = fadd bfloat %a, %b
  %m = fmul bfloat %s, %b
  %r = frem bfloat %m, %a
  %t = call bfloat @llvm.sin.bf16(bfloat %r)
  store bfloat %t, ptr %p
  ret void
}
declare bfloat @llvm.sin.bf16(bfloat)

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@other = alias i32 (i32), ptr @f
define i32 @f(i32 %x) noinline {
  %y = mul i32 %x, 3
  ret i32 %y
}
define ptx_kernel void @k(ptr %x) {
  %v = load i32, ptr %x
  %w = call i32 @other(i32 %v)
  store i32 %w, ptr %x
  ret void
}

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define linkonce_odr i32 @f() noinline {
  ret i32 5
}
declare i32 @a()
define ptx_kernel void @k(ptr %x) {
  %v = call i32 @f()
  %w = call i32 @a()
  %s = add i32 %v, %w
  store i32 %s, ptr %x
  ret void
}

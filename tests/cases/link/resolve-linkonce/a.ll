target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define linkonce_odr i32 @f() noinline {
  ret i32 5
}
define i32 @a() {
  %v = call i32 @f()
  ret i32 %v
}

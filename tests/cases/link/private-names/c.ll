target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@COUNT = internal global i32 31
define internal i32 @get() noinline {
  %v = load i32, ptr @COUNT
  store i32 32, ptr @COUNT
  ret i32 %v
}
define ptx_kernel void @c(ptr %x) {
  %v = call i32 @get()
  store i32 %v, ptr %x
  ret void
}

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@COUNT = internal global i32 41
define internal i32 @get() noinline {
  %v = load i32, ptr @COUNT
  store i32 42, ptr @COUNT
  ret i32 %v
}
define ptx_kernel void @d(ptr %x) {
  %v = call i32 @get()
  store i32 %v, ptr %x
  ret void
}

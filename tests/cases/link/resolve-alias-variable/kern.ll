target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@table = internal global [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@second = alias i32, getelementptr inbounds ([4 x i32], ptr @table, i64 0, i64 1)
@again = internal alias i32, ptr @second
define ptx_kernel void @k(ptr %x) {
  %v = load i32, ptr @again
  store i32 9, ptr @second
  store i32 %v, ptr %x
  ret void
}

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@public = alias i32 (i32), ptr @hidden
define internal i32 @hidden(i32 %x) noinline {
  %y = mul i32 %x, 3
  ret i32 %y
}

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@buffer = common global [4 x i32] zeroinitializer, align 4
define ptr @a() {
  ret ptr @buffer
}

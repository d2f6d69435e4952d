target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@maybe = extern_weak global i32
declare extern_weak i32 @perhaps()
define ptx_kernel void @k(ptr %x) {
  %a = icmp eq ptr @maybe, null
  %b = icmp eq ptr @perhaps, null
  %c = and i1 %a, %b
  br i1 %c, label %absent, label %present
absent:
  store i32 77, ptr %x
  ret void
present:
  %v = call i32 @perhaps()
  store i32 %v, ptr %x
  ret void
}

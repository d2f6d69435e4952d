target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@tile = addrspace(3) global [64 x float] undef, align 4
define ptx_kernel void @ka(ptr %x) {
  %v = load float, ptr addrspacecast (ptr addrspace(3) @tile to ptr)
  store float %v, ptr %x
  ret void
}

; A kernel for AMD code objects: scalars, pointers, 1024 bytes of LDS.
target triple = "amdgcn-amd-amdhsa"
@lds = internal addrspace(3) global [256 x i32] undef, align 16
define amdgpu_kernel void @saxpy(i32 %n, float %a, ptr addrspace(1) %x, ptr addrspace(1) %y) #0 {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr float, ptr addrspace(1) %x, i32 %id
  %q = getelementptr float, ptr addrspace(1) %y, i32 %id
  %v = load float, ptr addrspace(1) %p
  %w = fmul float %v, %a
  store float %w, ptr addrspace(1) %q
  %l = getelementptr [256 x i32], ptr addrspace(3) @lds, i32 0, i32 %id
  store volatile i32 %n, ptr addrspace(3) %l
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
attributes #0 = { "amdgpu-flat-work-group-size"="1,256" }

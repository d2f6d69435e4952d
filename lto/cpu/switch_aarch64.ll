; Switching between stacks, AArch64 (AAPCS64).

; Saves what a call must preserve (x19 to x30, d8 to d15) on the current stack, stores the
; stack pointer at %save, and goes on where %next was saved.
define void @__fc_cpu_switch(ptr %save, ptr %next) naked noinline nounwind {
  call void asm sideeffect "sub sp, sp, #160\0Astp x19, x20, [sp, #0]\0Astp x21, x22, [sp, #16]\0Astp x23, x24, [sp, #32]\0Astp x25, x26, [sp, #48]\0Astp x27, x28, [sp, #64]\0Astp x29, x30, [sp, #80]\0Astp d8, d9, [sp, #96]\0Astp d10, d11, [sp, #112]\0Astp d12, d13, [sp, #128]\0Astp d14, d15, [sp, #144]\0Amov x9, sp\0Astr x9, [x0]\0Amov sp, x1\0Aldp x19, x20, [sp, #0]\0Aldp x21, x22, [sp, #16]\0Aldp x23, x24, [sp, #32]\0Aldp x25, x26, [sp, #48]\0Aldp x27, x28, [sp, #64]\0Aldp x29, x30, [sp, #80]\0Aldp d8, d9, [sp, #96]\0Aldp d10, d11, [sp, #112]\0Aldp d12, d13, [sp, #128]\0Aldp d14, d15, [sp, #144]\0Aadd sp, sp, #160\0Aret", ""()
  unreachable
}

; Lays out a fresh stack below %top (aligned to 16 bytes) so that switching to the result
; enters @__fc_cpu_begin: the saved registers, with its address as the link register.
define ptr @__fc_cpu_prepare(ptr %top) nounwind {
  %sp = getelementptr i8, ptr %top, i64 -160
  call void @llvm.memset.p0.i64(ptr %sp, i8 0, i64 160, i1 false)
  %link = getelementptr i8, ptr %sp, i64 88
  store ptr @__fc_cpu_begin, ptr %link
  ret ptr %sp
}

declare void @__fc_cpu_begin()
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

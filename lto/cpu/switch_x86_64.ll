; Switching between stacks, x86-64 System V ABI.

; Saves what a call must preserve on the current stack, stores the stack pointer at %save,
; and goes on where %next was saved.
define void @__fc_cpu_switch(ptr %save, ptr %next) naked noinline nounwind {
  call void asm sideeffect "pushq %rbp\0Apushq %rbx\0Apushq %r12\0Apushq %r13\0Apushq %r14\0Apushq %r15\0Amovq %rsp, (%rdi)\0Amovq %rsi, %rsp\0Apopq %r15\0Apopq %r14\0Apopq %r13\0Apopq %r12\0Apopq %rbx\0Apopq %rbp\0Aretq", ""()
  unreachable
}

; Lays out a fresh stack below %top (aligned to 16 bytes) so that switching to the result
; enters @__fc_cpu_begin: six registers, its address, and no address to return to.
define ptr @__fc_cpu_prepare(ptr %top) nounwind {
  %none = getelementptr i8, ptr %top, i64 -8
  store i64 0, ptr %none
  %begin = getelementptr i8, ptr %top, i64 -16
  store ptr @__fc_cpu_begin, ptr %begin
  %sp = getelementptr i8, ptr %top, i64 -64
  call void @llvm.memset.p0.i64(ptr %sp, i8 0, i64 48, i1 false)
  ret ptr %sp
}

declare void @__fc_cpu_begin()
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

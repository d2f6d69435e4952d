# The constructor of `fatcrate embed --register`; fatbin/register.py holds the machine code.
    .intel_syntax noprefix
    .text
register:
    endbr64
    push rbx
    push r12
    sub rsp, 8
    lea rdi, [rip + wrapper]
    call __cudaRegisterFatBinary@PLT
    mov rbx, rax
    mov [rip + handle], rax
    lea r12, [rip + table]
next:
    mov rsi, [r12]              # the host's handle of the kernel
    test rsi, rsi
    je done
    mov rdx, [r12 + 8]          # the kernel's name
    mov rcx, rdx
    mov rdi, rbx
    mov r8d, -1
    xor r9d, r9d
    push 0
    push 0
    push 0
    push 0
    call __cudaRegisterFunction@PLT
    add rsp, 32
    add r12, 16
    jmp next
done:
    mov rdi, rbx
    call __cudaRegisterFatBinaryEnd@PLT
    lea rdi, [rip + unregister]
    call atexit@PLT
    add rsp, 8
    pop r12
    pop rbx
    ret
unregister:
    endbr64
    mov rdi, [rip + handle]
    jmp __cudaUnregisterFatBinary@PLT

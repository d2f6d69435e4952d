// The constructor of `fatcrate embed --register`; fatbin/register.py holds the machine code.
    .text
register:
    hint #34                    // bti c
    stp x29, x30, [sp, #-32]!
    mov x29, sp
    stp x19, x20, [sp, #16]
    adrp x0, wrapper
    add x0, x0, :lo12:wrapper
    bl __cudaRegisterFatBinary
    mov x19, x0
    adrp x1, handle
    str x0, [x1, :lo12:handle]
    adrp x20, table
    add x20, x20, :lo12:table
next:
    ldr x1, [x20]               // the host's handle of the kernel
    cbz x1, done
    ldr x2, [x20, #8]           // the kernel's name
    mov x3, x2
    mov x0, x19
    mov w4, #-1
    mov x5, xzr
    mov x6, xzr
    mov x7, xzr
    stp xzr, xzr, [sp, #-16]!
    bl __cudaRegisterFunction
    add sp, sp, #16
    add x20, x20, #16
    b next
done:
    mov x0, x19
    bl __cudaRegisterFatBinaryEnd
    adrp x0, unregister
    add x0, x0, :lo12:unregister
    bl atexit
    ldp x19, x20, [sp, #16]
    ldp x29, x30, [sp], #32
    ret
unregister:
    hint #34                    // bti c
    adrp x0, handle
    ldr x0, [x0, :lo12:handle]
    b __cudaUnregisterFatBinary

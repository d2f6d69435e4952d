"""What LINK supplies beside libraries: allocator shim, panic entry, shared memory, queries."""

from __future__ import annotations

import re
from typing import NamedTuple

from fatcrate.lto import errors, symbols
from fatcrate.toolchain import names
from fatcrate.toolchain.diagnostics import fail

DATA_LAYOUT = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

#: Symbols that the driver defines when it loads an image (CUDA C Programming Guide, "Dynamic
#: Global Memory Allocation", "Formatted Output", "Assertion"), and NVVM's own query.
DRIVER_SYMBOLS = frozenset({"malloc", "free", "vprintf", "__assertfail", "__nvvm_reflect"})

#: Left open in a linked module for CODEGEN.
OPEN_SYMBOLS = frozenset({names.ARCH_QUERY, names.FEATURE_QUERY})

#: C names that code of the sysroot may call and a crate may define itself.
LIBRARY_INTERFACE = frozenset(
    {"memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen", *DRIVER_SYMBOLS}
)

#: Allocates at any alignment. The device heap aligns to 16; for more, the address that `malloc`
#: returned is kept in the 8 bytes before the block, for `free`. `%align` is a power of two.
_ALLOCATE = """define linkonce_odr hidden ptr @__fc_allocate(i64 %size, i64 %align) {{
  %big = icmp ugt i64 %align, 16
  br i1 %big, label %aligned, label %plain
plain:
  %q = call ptr @malloc(i64 %size)
  ret ptr %q
aligned:
  %whole = add i64 %size, %align
  %p = call ptr @malloc(i64 %whole)
  %none = icmp eq ptr %p, null
  br i1 %none, label %refuse, label %place
place:
  %start = ptrtoint ptr %p to i64
  %above = add i64 %start, %align
  %mask = sub i64 0, %align
  %multiple = and i64 %above, %mask
  %offset = sub i64 %multiple, %start
  %block = getelementptr i8, ptr %p, i64 %offset
  %slot = getelementptr i8, ptr %block, i64 -8
  store ptr %p, ptr %slot
  ret ptr %block
refuse:
  ret ptr null
}}
declare ptr @malloc(i64)
"""

_RELEASE = """define linkonce_odr hidden void @__fc_release(ptr %p, i64 %align) {{
  %big = icmp ugt i64 %align, 16
  br i1 %big, label %aligned, label %plain
plain:
  call void @free(ptr %p)
  ret void
aligned:
  %slot = getelementptr i8, ptr %p, i64 -8
  %whole = load ptr, ptr %slot
  call void @free(ptr %whole)
  ret void
}}
declare void @free(ptr)
"""

#: rustc's allocator interface (``library/alloc/src/alloc.rs``).
_SHIM = {
    "__rust_alloc": """define noalias ptr @{name}(i64 %size, i64 %align) {{
  %p = call ptr @__fc_allocate(i64 %size, i64 %align)
  ret ptr %p
}}
"""
    + _ALLOCATE,
    "__rust_alloc_zeroed": """define noalias ptr @{name}(i64 %size, i64 %align) {{
  %p = call ptr @__fc_allocate(i64 %size, i64 %align)
  %none = icmp eq ptr %p, null
  br i1 %none, label %done, label %clear
clear:
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %size, i1 false)
  br label %done
done:
  ret ptr %p
}}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""
    + _ALLOCATE,
    "__rust_dealloc": """define void @{name}(ptr %p, i64 %size, i64 %align) {{
  call void @__fc_release(ptr %p, i64 %align)
  ret void
}}
"""
    + _RELEASE,
    "__rust_realloc": """define noalias ptr @{name}(ptr %p, i64 %old, i64 %align, i64 %new) {{
  %q = call ptr @__fc_allocate(i64 %new, i64 %align)
  %none = icmp eq ptr %q, null
  br i1 %none, label %done, label %move
move:
  %less = icmp ult i64 %old, %new
  %count = select i1 %less, i64 %old, i64 %new
  call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 %count, i1 false)
  call void @__fc_release(ptr %p, i64 %align)
  br label %done
done:
  ret ptr %q
}}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""
    + _ALLOCATE
    + _RELEASE,
    "__rust_no_alloc_shim_is_unstable_v2": """define void @{name}() alwaysinline {{
  ret void
}}
""",
    "__rust_no_alloc_shim_is_unstable": "@{name} = global i8 0\n",
    "__rust_alloc_error_handler": """define void @{name}(i64 %size, i64 %align) noreturn {{
  call void @llvm.trap()
  unreachable
}}
declare void @llvm.trap()
""",
    "__rust_alloc_error_handler_should_panic_v2": """define i8 @{name}() alwaysinline {{
  ret i8 0
}}
""",
    "__rust_alloc_error_handler_should_panic": "@{name} = constant i8 0\n",
    "rust_begin_unwind": """define void @{name}(ptr %info) noreturn cold {{
  call void @llvm.trap()
  unreachable
}}
declare void @llvm.trap()
""",
}


def shim(name: str) -> str | None:
    """Textual IR that defines a runtime symbol of rustc, whatever its mangling."""
    text = _SHIM.get(symbols.internal_name(name))
    return text.format(name=name) if text else None


class SharedRecord(NamedTuple):
    """One ``shared!``: the function that returns the memory, size and alignment in bytes."""

    symbol: str
    size: int
    align: int


_INITIALISER = re.compile(
    r"(?:constant|global) (?:<\{.*?\}>|\{.*?\}|\[.*?\]) (.*), section \"", re.DOTALL
)
_POINTER = re.compile(r'ptr @(?:"((?:[^"\\]|\\[0-9A-Fa-f]{2})*)"|([-a-zA-Z$._0-9]+))')
_PIECE = re.compile(
    r'\[\d+ x i8\] c"((?:[^"\\]|\\[0-9A-Fa-f]{2}|\\\\)*)"'
    r"|\[(\d+) x i8\] zeroinitializer|i(8|16|32|64) (-?\d+)"
)


def unescape(text: str) -> bytes:
    """The bytes of a string in textual IR (``\\\\xx`` escapes)."""
    raw = text.encode("utf-8")
    return re.sub(
        rb"\\(\\|[0-9A-Fa-f]{2})",
        lambda m: b"\\" if m[1] == b"\\" else bytes([int(m[1], 16)]),
        raw,
    )


def shared_record(definition: str, owner: str) -> SharedRecord:
    """Reads the static of a ``shared!`` from its textual IR. Raises FC0316.

    Layout (``names.py``): pointer to the function, u64 size, u64 alignment, little endian.
    """
    body = _INITIALISER.search(definition)
    pointer = _POINTER.search(body[1]) if body else None
    data = b""
    if body and pointer:
        for match in _PIECE.finditer(body[1], pointer.end()):
            if match[1] is not None:
                data += unescape(match[1])
            elif match[2] is not None:
                data += bytes(int(match[2]))
            else:
                width = int(match[3]) // 8
                data += (int(match[4]) % (1 << 8 * width)).to_bytes(width, "little")
    if not pointer or len(data) != 16:
        fail(
            errors.BAD_RECORD,
            owner,
            f"a static in section {names.META_SECTION} is not {{ symbol, size, align }}",
            remedy="use the macros of the device library that belongs to this fatcrate",
        )
    size, align = int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little")
    symbol = (
        unescape(pointer[1]).decode("utf-8", "replace") if pointer[1] is not None else pointer[2]
    )
    if align == 0 or align & (align - 1) or align > 1 << 16 or size > 1 << 32:
        fail(
            errors.BAD_RECORD,
            owner,
            f"shared memory of {size} bytes aligned to {align}",
            remedy="an alignment is a power of two, at most 65536",
        )
    return SharedRecord(symbol, size, align)


def quote(name: str) -> str:
    """``@name`` as textual IR spells it."""
    if re.fullmatch(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*", name):
        return f"@{name}"
    escaped = "".join(
        chr(b) if 32 <= b < 127 and b not in (34, 92) else f"\\{b:02X}"
        for b in name.encode("utf-8")
    )
    return f'@"{escaped}"'


def shared_definition(record: SharedRecord) -> str:
    """Textual IR of the memory and of the function that returns its generic address."""
    memory, function = quote(f"{record.symbol}.mem"), quote(record.symbol)
    return (
        f"{memory} = addrspace(3) global [{record.size} x i8] undef, align {record.align}\n"
        f"define ptr {function}() alwaysinline {{\n"
        f"  ret ptr addrspacecast (ptr addrspace(3) {memory} to ptr)\n}}\n"
    )

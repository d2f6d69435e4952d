"""Sources that give a host program the embedded bytes and the list of kernels."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from fatcrate.fatbin import errors, hip, kernels, reader
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.diagnostics import fail
from fatcrate.toolchain.manifest import Manifest, Parameter

_PYTHON_LIMIT: Final = 256 << 20


@dataclass(frozen=True)
class BoundKernel:
    """One kernel for the bindings. ``params`` are for people: ``n: u32``."""

    name: str
    params: list[str] = field(default_factory=list)


def check_symbol(symbol: str) -> None:
    """Raises FC0417 unless ``symbol`` can start a name in C, C++ and Rust."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", symbol):
        fail(
            errors.BAD_SYMBOL,
            symbol,
            "cannot be the name of a symbol",
            remedy="choose letters, digits and underscores, such as saxpy_kernels",
        )


def kernels_of(source: Source | None, manifest: Manifest | None) -> list[BoundKernel]:
    """The kernels of the manifest, or of all images of the container, sorted by name."""
    if manifest is not None:
        return [
            BoundKernel(k.name, [_parameter(p.name, _type(p)) for p in k.parameters])
            for k in sorted(manifest.kernels, key=lambda k: k.name)
        ]
    if source is None:
        return []
    fatbins = hip.read_all(source) if hip.is_bundle(source) else reader.read_all(source)
    found: dict[str, BoundKernel] = {}
    for fatbin in fatbins:
        for image in fatbin.images:
            for kernel in kernels.of_image(image):
                sizes = [_parameter(p.name, f"{p.size} bytes") for p in kernel.params]
                found.setdefault(kernel.name, BoundKernel(kernel.name, sizes))
            image.release()
    return [found[name] for name in sorted(found)]


def _type(parameter: Parameter) -> str:
    """The Rust type as far as the manifest knows it, else what the machine passes."""
    if parameter.rust_type or parameter.cls == "pointer":
        return parameter.rust_type or "pointer"
    bits = 8 * parameter.size
    return f"f{bits}" if parameter.cls == "float" else f"{bits}-bit integer"


def _parameter(name: str, type_: str) -> str:
    return f"{name}: {type_}" if name else type_


#: What makes a function of a header; C89 has no word for it, and unused functions are warned of.
INLINE: Final = """\
#ifndef FATCRATE_INLINE
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define FATCRATE_INLINE static inline
#elif defined(__GNUC__)
#define FATCRATE_INLINE static __inline__
#else
#define FATCRATE_INLINE static
#endif
#endif
"""


def header(symbol: str, bound: list[BoundKernel], register: bool = False) -> str:
    """The header, for C from C89 on and for C++."""
    guard = f"FATCRATE_{symbol.upper()}_H"
    names = "".join(f"        {_c_string(k.name)},\n" for k in bound)
    comments = "".join(f" *   {_comment(k)}\n" for k in bound)
    handles = ""
    if register:
        from fatcrate.fatbin.register import handle

        handles = (
            "\n/* Registered with the CUDA runtime: pass these to cudaLaunchKernel. */\n"
            + "".join(
                f"extern const char {handle(symbol, k.name, i)}"
                f' __attribute__((visibility("hidden"))); /* {_plain(k.name)} */\n'
                for i, k in enumerate(bound)
            )
        )
    return f"""\
/* Written by fatcrate. The fat binary `{symbol}` and its kernels:
{comments} */
#ifndef {guard}
#define {guard}

#include <stddef.h>

{INLINE}
#ifdef __cplusplus
extern "C" {{
#endif

/* First byte, and the byte after the last. Pass {symbol}_start to cuModuleLoadData,
 * cuLibraryLoadData or hipModuleLoadData. */
extern const unsigned char {symbol}_start[];
extern const unsigned char {symbol}_end[];
{handles}
#define {symbol.upper()}_KERNEL_COUNT {len(bound)}

FATCRATE_INLINE size_t {symbol}_size(void) {{
    return (size_t)({symbol}_end - {symbol}_start);
}}

/* {symbol.upper()}_KERNEL_COUNT names and a null pointer. */
FATCRATE_INLINE const char *const *{symbol}_kernels(void) {{
    static const char *const names[] = {{
{names}        0,
    }};
    return names;
}}

#ifdef __cplusplus
}}
#endif

#endif
"""


def parts_header(symbol: str, parts: Mapping[str, str], manifest: Manifest) -> str:
    """The C and C++ header of a partitioned target. ``parts``: module -> prefix of its symbols."""
    bound = kernels_of(None, manifest)
    module = {k.name: k.module for k in manifest.kernels}
    comments = "".join(f" *   {_comment(k)} in {_plain(module[k.name])}\n" for k in bound)
    externs = "".join(
        f"extern const unsigned char {prefix}_{end}[];\n"
        for prefix in parts.values()
        for end in ("start", "end")
    )
    names = "".join(f"        {_c_string(k.name)},\n" for k in bound)
    starts = "".join(f"        {parts[module[k.name]]}_start,\n" for k in bound)
    guard, upper = f"FATCRATE_{symbol.upper()}_H", symbol.upper()
    return f"""\
/* Written by fatcrate. The fat binaries of `{symbol}` and their kernels:
{comments} */
#ifndef {guard}
#define {guard}

{INLINE}
#ifdef __cplusplus
extern "C" {{
#endif

/* First byte of each module, and the byte after its last. Pass one's start to cuModuleLoadData,
 * cuLibraryLoadData or hipModuleLoadData. */
{externs}
#define {upper}_MODULE_COUNT {len(parts)}
#define {upper}_KERNEL_COUNT {len(bound)}

/* {upper}_KERNEL_COUNT names and a null pointer. */
FATCRATE_INLINE const char *const *{symbol}_kernels(void) {{
    static const char *const names[] = {{
{names}        0,
    }};
    return names;
}}

/* The module of the kernel at the same place in {symbol}_kernels(). */
FATCRATE_INLINE const unsigned char *const *{symbol}_modules(void) {{
    static const unsigned char *const starts[] = {{
{starts}        0,
    }};
    return starts;
}}

#ifdef __cplusplus
}}
#endif

#endif
"""


def rust(symbol: str, bound: list[BoundKernel]) -> str:
    """The Rust module; the object must be linked into the program."""
    names = "".join(f"    {_rust_string(k.name)},\n" for k in bound)
    docs = "".join(f"//! * `{_plain(k.name)}({_plain(', '.join(k.params))})`\n" for k in bound)
    return f"""\
//! Written by fatcrate. The fat binary `{symbol}` and its kernels:
//!
{docs}
unsafe extern "C" {{
    static {symbol}_start: u8;
    static {symbol}_end: u8;
}}

/// Names of the kernels, sorted.
#[rustfmt::skip]
pub const KERNELS: &[&str] = &[
{names}];

/// The fat binary that is linked into this program.
pub fn image() -> &'static [u8] {{
    let start = &raw const {symbol}_start;
    let end = &raw const {symbol}_end;
    // SAFETY: both symbols delimit one section of the object that fatcrate wrote; it is
    // read-only and lives as long as the program.
    unsafe {{ core::slice::from_raw_parts(start, end.offset_from(start) as usize) }}
}}
"""


def python(symbol: str, bound: list[BoundKernel], source: Source) -> str:
    """The Python module, which holds the bytes itself. Raises FC0415 beyond 256 MiB."""
    if source.size > _PYTHON_LIMIT:
        fail(
            errors.OBJECT_TOO_LARGE,
            source.name,
            f"has {source.size} bytes; a Python module takes at most {_PYTHON_LIMIT}",
            remedy="ship the fat binary as a data file and read that",
        )
    text = base64.b64encode(source.all()).decode()
    lines = "\n".join(text[i : i + 96] for i in range(0, len(text), 96))
    names = "".join(f"    {k.name!r},\n" for k in bound)
    signatures = "".join(f"    {k.name!r}: {tuple(k.params)!r},\n" for k in bound)
    return f'''\
"""Written by fatcrate: the fat binary `{symbol}` and its kernels."""

import base64 as _base64

#: Names of the kernels, sorted.
KERNELS = (
{names})

#: Parameters of each kernel, for people.
SIGNATURES = {{
{signatures}}}


def image() -> bytes:
    """The fat binary: pass it to cuModuleLoadData or cuLibraryLoadData."""
    return _base64.b64decode(_TEXT)


_TEXT = """
{lines}
"""
'''


def _c_string(text: str) -> str:
    made = text.replace("\\", "\\\\").replace('"', '\\"').replace("??", "?\\?")  # no trigraphs
    return '"' + "".join(ch if 32 <= ord(ch) < 127 else _octal(ch) for ch in made) + '"'


def _octal(ch: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in ch.encode("utf-8", "surrogateescape"))


def _rust_string(text: str) -> str:
    made = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(ch if ch.isprintable() else f"\\u{{{ord(ch):x}}}" for ch in made) + '"'


def _plain(text: str) -> str:
    """``text`` so that it can stand in a comment of C or Rust."""
    shown = "".join(ch if ch.isprintable() else "?" for ch in text)
    return shown.replace("*/", "* /").replace("/*", "/ *")


def _comment(kernel: BoundKernel) -> str:
    return _plain(f"{kernel.name}({', '.join(kernel.params)})")

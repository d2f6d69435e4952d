//! The rows on the host: `host NAME N` reads packed records and writes results; `host` lists.
#![feature(
    core_float_math,
    core_intrinsics,
    f16,
    float_algebraic,
    funnel_shifts,
    generic_const_exprs,
    int_roundings,
    macro_metavar_expr_concat,
    portable_simd,
    ptr_mask,
    uint_carryless_mul,
    repr_simd,
    variant_count,
    float_minimum_maximum
)]
#![allow(
    incomplete_features,
    internal_features,
    unused_imports,
    unused_macros,
    dead_code,
    stable_features,
    unused_unsafe,
    non_upper_case_globals
)]

extern crate core;

type Run = fn(&[u8]) -> Vec<u8>;

macro_rules! row {
    ($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $body:expr) => {
        fn $name(x: &[u8]) -> Vec<u8> {
            let width = 0 $(+ size_of::<$type>())*;
            let mut out = Vec::new();
            for record in x.chunks_exact(width) {
                // SAFETY: the record is as long as the arguments.
                unsafe {
                    let mut at = record.as_ptr();
                    $(
                        let $argument = at.cast::<$type>().read_unaligned();
                        #[allow(unused_assignments)]
                        { at = at.add(size_of::<$type>()); }
                    )*
                    let result: $result = $body;
                    let bytes = (&raw const result).cast::<u8>();
                    out.extend_from_slice(std::slice::from_raw_parts(bytes, size_of::<$result>()));
                }
            }
            out
        }
        const ${concat(signature_, $name)}: &str =
            concat!(stringify!($($type),*), " -> ", stringify!($result));
    };
}

macro_rules! shared_slot {
    ($t:ty) => {
        Box::leak(Box::new(std::mem::MaybeUninit::<$t>::uninit())).as_mut_ptr()
    };
}

include!("prelude.rs");
include!("ops.rs");
include!("language.rs");
include!("values.rs");
include!("list.rs");

/// Frames: name's length, name, length, bytes. Answers in the same way.
fn main() {
    use std::io::{Read, Write};
    if std::env::args().len() > 1 {
        for (name, signature, _) in ROWS {
            println!("{name}: {signature}");
        }
        return;
    }
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input).unwrap();
    let mut rest = &input[..];
    let mut take = || {
        let (length, tail) = rest.split_first_chunk::<4>()?;
        let (bytes, tail) = tail.split_at(u32::from_le_bytes(*length) as usize);
        rest = tail;
        Some(bytes)
    };
    let mut out = std::io::stdout();
    while let Some(name) = take() {
        let records = take().unwrap();
        let (_, _, run) = ROWS.iter().find(|row| row.0.as_bytes() == name).unwrap();
        let result = run(records);
        out.write_all(&(result.len() as u32).to_le_bytes()).unwrap();
        out.write_all(&result).unwrap();
    }
}

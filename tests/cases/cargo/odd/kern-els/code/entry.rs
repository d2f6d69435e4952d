//! Crates with names, places and versions of their own.
#![no_std]
mod sub;
include!(concat!(env!("OUT_DIR"), "/gen.rs"));
#[cfg(not(made))]
compile_error!("cfg made is off");
/// # Safety
/// `out` holds 9 words.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn facts(out: *mut u32) {
    let facts = [
        DEP,
        env!("MADE_BY").len() as u32,
        sub::ten(),
        one::number() + two::number(),
        m2::level(),
        old::answer(),
        pm::seven!(),
        links_b::number(),
        env!("CARGO_CRATE_NAME").len() as u32,
    ];
    for (i, f) in facts.iter().enumerate() {
        // SAFETY: there are 9 words.
        unsafe { *out.add(i) = *f };
    }
}

//! A kernel that depends on everything that cargo can configure.
#![no_std]

#[cfg(not(from_script))]
compile_error!("the build script's cfg is missing");

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(derive::Answer)]
struct Unit;

/// # Safety
/// `out` points to 8 words.
#[no_mangle]
pub unsafe extern "gpu-kernel" fn facts(out: *mut u32) {
    let facts = [
        m::speed(),
        consts::TABLE[3],
        env!("TABLE_SIZE").len() as u32,
        Unit::answer(),
        helper::for_host() as u32,
        extra::OFFSET,
        VERSION.len() as u32,
        gpu::global_x() as u32 + consts::INCLUDED.len() as u32,
    ];
    for (i, fact) in facts.into_iter().enumerate() {
        // SAFETY: there are 8 words.
        unsafe { *out.add(i) = fact };
    }
}

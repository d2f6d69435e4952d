//! What happens on a panic: [`trap`](crate::trap).
//!
//! With `panic=immediate-abort`, the default, a panic never gets as far as a handler. With
//! `panic=abort` the library's handler serves a link in which no crate defines one.

use core::panic::PanicInfo;

#[cfg(feature = "panic-handler")]
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    crate::trap()
}

/// Has the symbol of rustc's own `#[panic_handler]` function, but weak: a handler in a user's
/// crate neither clashes with it at compile time nor at link time.
#[cfg(not(feature = "panic-handler"))]
#[linkage = "weak"]
#[rustc_std_internal_symbol]
fn rust_begin_unwind(_: &PanicInfo<'_>) -> ! {
    crate::trap()
}

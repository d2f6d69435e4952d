//! A library that only a procedural macro uses.

/// Three numbers.
pub fn numbers() -> [u32; 3] {
    [3, 5, 7]
}

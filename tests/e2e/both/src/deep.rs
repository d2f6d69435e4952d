//! A module.

generate::factors!();

pub fn factor(i: usize) -> u32 {
    FACTORS[i % FACTORS.len()]
}

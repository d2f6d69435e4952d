//! Shortest decimal text of floats by `ryu`.
#![no_std]

use harness::Words;

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let x = f64::from(i) * 0.1 - 1.7;
    out.text(ryu::Buffer::new().format(x));
    out.text(ryu::Buffer::new().format(x as f32 * 1e-12));
    out.text(ryu::Buffer::new().format(f64::from_bits(0x7fef_ffff_0000_0000 - u64::from(i))));
}

harness::kernel!(ryu_case, 16, case);

//! Checksums of `crc`, whose tables are made at compile time.
#![no_std]

use crc::{CRC_8_BLUETOOTH, CRC_16_USB, CRC_32_ISO_HDLC, CRC_64_XZ, Crc};
use harness::Words;

const CRC8: Crc<u8> = Crc::<u8>::new(&CRC_8_BLUETOOTH);
const CRC16: Crc<u16> = Crc::<u16>::new(&CRC_16_USB);
const CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
const CRC64: Crc<u64> = Crc::<u64>::new(&CRC_64_XZ);

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let text: [u8; 64] = core::array::from_fn(|n| (n as u32 * i) as u8);
    let part = &text[..i as usize % 65];
    out.u32(CRC32.checksum(part));
    out.u64(CRC64.checksum(part));
    out.u32(CRC16.checksum(part).into());
    let mut digest = CRC32.digest_with_initial(i);
    digest.update(part);
    digest.update(&[0xff]);
    out.u32(digest.finalize());
    out.u32(CRC8.checksum(part).into());
}

harness::kernel!(crc_case, 6, case);

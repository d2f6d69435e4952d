//! Digests by blocks, and SHA-256.
#![no_std]

/// A hash function that takes whole blocks of `B` bytes.
pub trait Blocks<const B: usize>: Default {
    /// What comes out.
    type Output;

    /// Takes a block.
    fn block(&mut self, block: &[u8; B]);

    /// The last blocks: the rest of the message, padding and its length in bytes.
    fn finish(self, rest: &[u8], length: u64) -> Self::Output;
}

/// Hashes a message.
#[inline]
pub fn hash<H: Blocks<B>, const B: usize>(message: &[u8]) -> H::Output {
    let mut state = H::default();
    let (blocks, rest) = message.as_chunks::<B>();
    for block in blocks {
        state.block(block);
    }
    state.finish(rest, message.len() as u64)
}

/// SHA-256 of FIPS 180-4.
pub struct Sha256([u32; 8]);

/// The first 32 bits of the fractional parts of the roots of the first primes.
const fn roots<const N: usize>(cubic: bool) -> [u32; N] {
    let mut found = [0; N];
    let (mut candidate, mut count) = (2_u128, 0);
    while count < N {
        let mut divisor = 2;
        while candidate % divisor != 0 {
            divisor += 1;
        }
        if divisor == candidate {
            // The largest `root` with `root ^ power <= candidate * 2 ^ (32 * power)`.
            let (mut low, mut high) = (0_u128, 1 << 37);
            while low + 1 < high {
                let middle = (low + high) / 2;
                let (power, wanted) = if cubic {
                    (middle * middle * middle, candidate << 96)
                } else {
                    (middle * middle, candidate << 64)
                };
                if power <= wanted {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            found[count] = low as u32;
            count += 1;
        }
        candidate += 1;
    }
    found
}

static ROUNDS: [u32; 64] = roots(true);
static START: [u32; 8] = roots(false);

impl Default for Sha256 {
    fn default() -> Self {
        Sha256(START)
    }
}

impl Blocks<64> for Sha256 {
    type Output = [u8; 32];

    fn block(&mut self, block: &[u8; 64]) {
        let mut w = [0; 64];
        for (word, bytes) in w.iter_mut().zip(block.as_chunks::<4>().0) {
            *word = u32::from_be_bytes(*bytes);
        }
        for i in 16..64 {
            let (a, b) = (w[i - 15], w[i - 2]);
            let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
            let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
            w[i] = s0
                .wrapping_add(s1)
                .wrapping_add(w[i - 16])
                .wrapping_add(w[i - 7]);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.0;
        for (k, w) in ROUNDS.iter().zip(w) {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let one = (h.wrapping_add(s1).wrapping_add(e & f ^ !e & g))
                .wrapping_add(*k)
                .wrapping_add(w);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let two = s0.wrapping_add(a & b ^ a & c ^ b & c);
            (h, g, f, e) = (g, f, e, d.wrapping_add(one));
            (d, c, b, a) = (c, b, a, one.wrapping_add(two));
        }
        for (old, new) in self.0.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *old = old.wrapping_add(new);
        }
    }

    fn finish(mut self, rest: &[u8], length: u64) -> [u8; 32] {
        let mut last = [0; 64];
        last[..rest.len()].copy_from_slice(rest);
        last[rest.len()] = 0x80;
        if rest.len() >= 56 {
            self.block(&last);
            last.fill(0);
        }
        last[56..].copy_from_slice(&(length * 8).to_be_bytes());
        self.block(&last);
        let mut digest = [0; 32];
        for (bytes, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(self.0) {
            *bytes = word.to_be_bytes();
        }
        digest
    }
}

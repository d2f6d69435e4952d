//! Runs one function per item, by a kernel on the device and by plain Rust on the host.
#![no_std]

#[cfg(target_arch = "nvptx64")]
pub use gpu;

/// The results of one item: words, written one after the other; the rest stays zero.
pub struct Words<'a> {
    words: &'a mut [u32],
    used: usize,
}

impl<'a> Words<'a> {
    /// Starts at the first of `words`, which are all zero.
    pub fn new(words: &'a mut [u32]) -> Self {
        Self { words, used: 0 }
    }

    /// Writes a word.
    pub fn u32(&mut self, value: u32) {
        self.words[self.used] = value;
        self.used += 1;
    }

    /// Writes a signed word.
    pub fn i32(&mut self, value: i32) {
        self.u32(value as u32);
    }

    /// Writes two words, the low half first.
    pub fn u64(&mut self, value: u64) {
        self.u32(value as u32);
        self.u32((value >> 32) as u32);
    }

    /// Writes the bits of a float.
    pub fn f32(&mut self, value: f32) {
        self.u32(value.to_bits());
    }

    /// Writes the bits of a double.
    pub fn f64(&mut self, value: f64) {
        self.u64(value.to_bits());
    }

    /// Writes bytes, four to a word, the last ones padded with zeros.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(4) {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            self.u32(u32::from_le_bytes(word));
        }
    }

    /// Writes the length of a text and a hash of its bytes.
    pub fn text(&mut self, text: &str) {
        self.u32(text.len() as u32);
        self.u32(text.bytes().fold(5381, |hash: u32, byte| {
            hash.wrapping_mul(33) ^ u32::from(byte)
        }));
    }
}

/// Defines a kernel in which thread `i` runs `$case(i, …)` on `$words` words of `out`, and
/// [`WORDS`](kernel) for the host.
#[macro_export]
macro_rules! kernel {
    ($name:ident, $words:expr, $case:path) => {
        /// Words of results per item.
        pub const WORDS: usize = $words;

        /// Thread `i` writes the results of item `i`.
        ///
        /// # Safety
        /// `out` points to `n * WORDS` words, all zero.
        #[cfg(target_arch = "nvptx64")]
        #[unsafe(no_mangle)]
        pub unsafe extern "gpu-kernel" fn $name(n: u32, out: *mut u32) {
            let i = $crate::gpu::global_x();
            if i < n as usize {
                // SAFETY: `i < n`, and each thread has its own words.
                let words = unsafe { core::slice::from_raw_parts_mut(out.add(i * WORDS), WORDS) };
                $case(i as u32, &mut $crate::Words::new(words));
            }
        }
    };
}

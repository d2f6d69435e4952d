//! Keys whose unsigned bits sort as the keys do.
#![no_std]

/// A type that sorts by its bits.
pub trait Key: Copy + 'static {
    /// How many bits there are.
    const BITS: u32;

    /// Bits in the order of the keys.
    fn bits(self) -> u64;

    /// `width` bits from `shift` on.
    #[inline]
    fn digit(self, shift: u32, width: u32) -> usize {
        (self.bits() >> shift) as usize & ((1 << width) - 1)
    }
}

macro_rules! unsigned {
    ($($type:ty)*) => {$(
        impl Key for $type {
            const BITS: u32 = <$type>::BITS;

            #[inline]
            fn bits(self) -> u64 {
                self.into()
            }
        }
    )*};
}

macro_rules! signed {
    ($($type:ty as $bits:ty),*) => {$(
        impl Key for $type {
            const BITS: u32 = <$type>::BITS;

            #[inline]
            fn bits(self) -> u64 {
                (self as $bits ^ (1 << (<Self as Key>::BITS - 1))).into()
            }
        }
    )*};
}

macro_rules! floats {
    ($($type:ty as $bits:ty),*) => {$(
        impl Key for $type {
            const BITS: u32 = <$bits>::BITS;

            /// The order of `total_cmp`.
            #[inline]
            fn bits(self) -> u64 {
                let bits = self.to_bits();
                let negative = bits >> (<Self as Key>::BITS - 1) != 0;
                (if negative { !bits } else { bits | 1 << (<Self as Key>::BITS - 1) }).into()
            }
        }
    )*};
}

unsigned! { u8 u16 u32 u64 }
signed! { i8 as u8, i32 as u32, i64 as u64 }
floats! { f32 as u32, f64 as u64 }

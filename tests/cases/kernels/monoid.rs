//! Associative operations.
#![no_std]

/// An associative operation with a neutral element, which need not commute.
pub trait Monoid: Copy + 'static {
    /// The neutral element.
    const NEUTRAL: Self;

    /// `self`, then `next`.
    fn then(self, next: Self) -> Self;
}

/// Addition that wraps.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Sum(pub u32);

impl Monoid for Sum {
    const NEUTRAL: Self = Sum(0);

    #[inline]
    fn then(self, next: Self) -> Self {
        Sum(self.0.wrapping_add(next.0))
    }
}

/// The largest.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Largest(pub i64);

impl Monoid for Largest {
    const NEUTRAL: Self = Largest(i64::MIN);

    #[inline]
    fn then(self, next: Self) -> Self {
        self.max(next)
    }
}

impl Largest {
    #[inline]
    fn max(self, other: Self) -> Self {
        Largest(self.0.max(other.0))
    }
}

/// The map `x -> factor * x + offset` modulo 2^16: composition does not commute.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Affine {
    /// The factor.
    pub factor: u16,
    /// What is added.
    pub offset: u16,
}

impl Monoid for Affine {
    const NEUTRAL: Self = Affine {
        factor: 1,
        offset: 0,
    };

    #[inline]
    fn then(self, next: Self) -> Self {
        Affine {
            factor: self.factor.wrapping_mul(next.factor),
            offset: self
                .offset
                .wrapping_mul(next.factor)
                .wrapping_add(next.offset),
        }
    }
}

/// Two at once.
impl<A: Monoid, B: Monoid> Monoid for (A, B) {
    const NEUTRAL: Self = (A::NEUTRAL, B::NEUTRAL);

    #[inline]
    fn then(self, next: Self) -> Self {
        (self.0.then(next.0), self.1.then(next.1))
    }
}

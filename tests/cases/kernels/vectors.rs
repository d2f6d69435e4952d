//! Vectors of three floats.
#![no_std]

use core::array;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Index, Mul, Sub};

use gpu::Float;

/// A vector.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
pub struct Vector<T, const N: usize>(pub [T; N]);

impl<T: Float, const N: usize> Vector<T, N> {
    /// No length.
    pub const ZERO: Self = Vector([T::ZERO; N]);

    /// The inner product.
    #[inline]
    pub fn dot(self, other: Self) -> T {
        let mut sum = T::ZERO;
        for (a, b) in self.0.into_iter().zip(other.0) {
            sum += a * b;
        }
        sum
    }
}

impl<T: Float, const N: usize> Add for Vector<T, N> {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Vector(array::from_fn(|i| self.0[i] + other.0[i]))
    }
}

impl<T: Float, const N: usize> Sub for Vector<T, N> {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Vector(array::from_fn(|i| self.0[i] - other.0[i]))
    }
}

impl<T: Float, const N: usize> Mul<T> for Vector<T, N> {
    type Output = Self;
    #[inline]
    fn mul(self, factor: T) -> Self {
        Vector(self.0.map(|x| x * factor))
    }
}

impl<T: Float, const N: usize> AddAssign for Vector<T, N> {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<T: Float, const N: usize> Sum for Vector<T, N> {
    #[inline]
    fn sum<I: Iterator<Item = Self>>(vectors: I) -> Self {
        vectors.fold(Self::ZERO, Add::add)
    }
}

impl<T, const N: usize> Index<usize> for Vector<T, N> {
    type Output = T;
    #[inline]
    fn index(&self, i: usize) -> &T {
        &self.0[i]
    }
}

//! The arithmetic: generic over the float type, compiled once for all architectures.
#![no_std]

use gpu::Float;
use vecops::{Input, Output};

/// `y[i] = a * x[i] + y[i]` for one element, rounded after the product and after the sum. Does
/// nothing beyond the end.
#[inline]
pub fn axpy<T: Float>(i: usize, a: T, x: Input<T>, mut y: Output<T>) {
    if let (Some(x), Some(y)) = (x.get(i), y.get_mut(i)) {
        *y = a * x + *y;
    }
}

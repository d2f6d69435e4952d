//! Matrices and square tiles of them in shared memory: generic over element and size.
#![no_std]

use core::ops::{AddAssign, Mul};

use gpu::Shared;

/// A type that matrices can be made of.
pub trait Element: Copy + Default + AddAssign + Mul<Output = Self> + 'static {}

impl<T: Copy + Default + AddAssign + Mul<Output = T> + 'static> Element for T {}

/// A matrix by rows, in global memory.
#[derive(Clone, Copy)]
pub struct Matrix<T> {
    start: *mut T,
    rows: usize,
    columns: usize,
}

impl<T: Element> Matrix<T> {
    /// # Safety
    /// `start` points to `rows * columns` elements, which nobody else writes.
    #[inline]
    pub const unsafe fn new(start: *mut T, rows: usize, columns: usize) -> Self {
        Matrix {
            start,
            rows,
            columns,
        }
    }

    #[inline]
    fn place(&self, row: usize, column: usize) -> Option<*mut T> {
        (row < self.rows && column < self.columns)
            // SAFETY: in bounds.
            .then(|| unsafe { self.start.add(row * self.columns + column) })
    }

    /// An element; zero outside.
    #[inline]
    pub fn get(&self, row: usize, column: usize) -> T {
        // SAFETY: `place` is in bounds.
        self.place(row, column)
            .map_or_else(T::default, |p| unsafe { p.read() })
    }

    /// Sets an element; nothing happens outside.
    ///
    /// # Safety
    /// Nobody else is at this element.
    #[inline]
    pub unsafe fn set(&self, row: usize, column: usize, value: T) {
        if let Some(place) = self.place(row, column) {
            // SAFETY: in bounds, and the caller's alone.
            unsafe { place.write(value) }
        }
    }
}

/// Two tiles of `N` by `N` elements.
pub type Pair<T, const N: usize> = Shared<[[[T; N]; N]; 2]>;

/// The element of `a * b` that the thread of `(row, column)` in a block of `N` by `N` owns.
///
/// # Safety
/// All threads of a block of `N` by `N` call this together.
#[inline]
pub unsafe fn product<T: Element, const N: usize>(
    tiles: Pair<T, N>,
    a: Matrix<T>,
    b: Matrix<T>,
    row: usize,
    column: usize,
) -> T {
    let (y, x) = (gpu::thread_idx_y() as usize, gpu::thread_idx_x() as usize);
    let tiles = tiles.as_ptr();
    let mut sum = T::default();
    for start in (0..a.columns).step_by(N) {
        // SAFETY: each thread writes its own elements; barriers order them and the reads.
        unsafe {
            (*tiles)[0][y][x] = a.get(row, start + x);
            (*tiles)[1][y][x] = b.get(start + y, column);
            gpu::barrier();
            for k in 0..N {
                sum += (*tiles)[0][y][k] * (*tiles)[1][k][x];
            }
            gpu::barrier();
        }
    }
    sum
}

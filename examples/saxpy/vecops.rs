//! Views of the launch's buffers: the lowest of the example's three crates.
#![no_std]

/// Elements that a kernel was given as a pointer and a count. Every access is checked.
#[derive(Clone, Copy)]
pub struct Input<T> {
    pointer: *const T,
    count: usize,
}

impl<T: Copy> Input<T> {
    /// A view of `count` elements.
    ///
    /// # Safety
    /// `pointer` is valid for reads of `count` elements while the view is used, and no thread
    /// writes them.
    #[inline]
    #[must_use]
    pub unsafe fn new(pointer: *const T, count: usize) -> Self {
        Input { pointer, count }
    }

    /// The element at `index`, if there is one.
    #[inline]
    #[must_use]
    pub fn get(self, index: usize) -> Option<T> {
        if index < self.count {
            // SAFETY: the index is in bounds, and `new`'s caller vouches for the elements.
            Some(unsafe { *self.pointer.add(index) })
        } else {
            None
        }
    }
}

/// Elements of which every thread writes its own.
#[derive(Clone, Copy)]
pub struct Output<T> {
    pointer: *mut T,
    count: usize,
}

impl<T> Output<T> {
    /// A view of `count` elements.
    ///
    /// # Safety
    /// `pointer` is valid for reads and writes of `count` elements while the view is used, and
    /// no other thread touches an element that this one asks for.
    #[inline]
    #[must_use]
    pub unsafe fn new(pointer: *mut T, count: usize) -> Self {
        Output { pointer, count }
    }

    /// The element at `index`, if there is one.
    #[inline]
    #[must_use]
    pub fn get_mut<'a>(&mut self, index: usize) -> Option<&'a mut T>
    where
        T: 'a,
    {
        if index < self.count {
            // SAFETY: the index is in bounds; `new`'s caller vouches that nobody else has it.
            Some(unsafe { &mut *self.pointer.add(index) })
        } else {
            None
        }
    }
}

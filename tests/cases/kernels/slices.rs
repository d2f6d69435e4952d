//! Work for one thread: a grid-stride range, and slices from a kernel's parameters.
#![no_std]

/// Every `gpu::global_size()`-th number below `count`, from the thread's own rank on.
#[inline]
pub fn mine(count: usize) -> impl Iterator<Item = usize> {
    (gpu::global_rank()..count).step_by(gpu::global_size())
}

/// Rows of a ragged array: row `i` is `data[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Copy)]
pub struct Ragged<'a, T> {
    offsets: &'a [u32],
    data: &'a [T],
}

impl<'a, T> Ragged<'a, T> {
    /// # Safety
    /// `offsets` points to `rows + 1` ascending numbers, and `data` to as many elements as the
    /// last of them says.
    #[inline]
    pub unsafe fn new(offsets: *const u32, rows: usize, data: *const T) -> Self {
        // SAFETY: as the caller says.
        unsafe {
            let offsets = core::slice::from_raw_parts(offsets, rows + 1);
            let data = core::slice::from_raw_parts(data, offsets[rows] as usize);
            Ragged { offsets, data }
        }
    }

    /// The number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// A row, if there is one.
    #[inline]
    pub fn row(&self, i: usize) -> Option<&'a [T]> {
        let &[start, end] = self.offsets.get(i..)?.first_chunk::<2>()?;
        self.data.get(start as usize..end as usize)
    }
}

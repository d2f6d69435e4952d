//! Memory shared by the threads of a block.
//!
//! [`shared!`](crate::shared!) reserves a typed piece of it at compile time;
//! [`dynamic_shared`] gives the piece whose size the launch chooses. Both are uninitialised
//! when a block starts (the CPU runner fills them with `0xFF`, which is NaN as a float), and
//! both are gone when it ends.

use core::mem::{align_of, needs_drop, size_of};

use crate::primitives::{__fc_dynamic_shared, __fc_dynamic_shared_bytes};

/// What the linker reads to lay out one use of [`shared!`](crate::shared!): a contract with
/// `toolchain/names.py`.
#[doc(hidden)]
#[repr(C)]
pub struct Record {
    symbol: unsafe extern "C" fn() -> *mut u8,
    size: u64,
    align: u64,
}

/// The most static shared memory that a block may have on NVIDIA hardware, in bytes.
const STATIC_LIMIT: usize = 48 * 1024;

impl Record {
    /// The record of memory for a `T` at the address that `symbol` returns.
    pub const fn new<T: 'static>(symbol: unsafe extern "C" fn() -> *mut u8) -> Self {
        assert!(size_of::<T>() > 0, "shared!: the type has no size");
        assert!(
            !needs_drop::<T>(),
            "shared!: the type has a destructor, which nobody would run"
        );
        assert!(
            size_of::<T>() <= STATIC_LIMIT,
            "shared!: more than 48 KiB; use gpu::dynamic_shared"
        );
        Record {
            symbol,
            size: size_of::<T>() as u64,
            align: align_of::<T>() as u64,
        }
    }
}

/// Refuses `shared!` in a generic function, where each instance would expect its own memory
/// but all would get the same. `item` is a function item beside the use, whose path has no
/// generic arguments; `closure` a closure, whose path has those of the function around it.
#[doc(hidden)]
pub const fn refuse_generic<I, C>(_item: &I, _closure: &C) {
    let item = core::any::type_name::<I>().as_bytes();
    let closure = core::any::type_name::<C>().as_bytes();
    let mut path = item.len();
    while path > 0 && item[path - 1] != b':' {
        path -= 1;
    }
    let mut i = 0;
    while i < path {
        assert!(
            i < closure.len() && item[i] == closure[i],
            "shared! in a generic function: all its instances would share one memory; \
             make the memory in the kernel and pass the pointer"
        );
        i += 1;
    }
}

/// Reserves memory for one value of a type, shared by the threads of a block, and gives it as
/// a [`Shared`].
///
/// Each place in the source stands for one piece of memory, however often control passes it;
/// a function called twice gets the same memory twice. Size and alignment are those of the
/// type. Types with destructors, types without size and more than 48 KiB are refused at
/// compile time, as are generic functions (when an instance of them is compiled).
///
/// ```ignore
/// let tile = gpu::shared!([f32; 256]);
/// // SAFETY: each thread writes its own element; the barrier orders writes and reads.
/// let neighbour = unsafe {
///     tile.write(i, x);
///     gpu::barrier();
///     tile.read((i + 1) % 256)
/// };
/// ```
#[macro_export]
#[allow_internal_unstable(linkage)]
macro_rules! shared {
    ($type:ty) => {{
        // The linker replaces this body. Weak linkage keeps every optimiser from looking into
        // it; rustc's mangling makes the name unique.
        #[linkage = "weak"]
        #[inline(never)]
        unsafe extern "C" fn __fatcrate_shared() -> *mut u8 {
            ::core::ptr::null_mut()
        }

        #[used]
        #[unsafe(link_section = ".fatcrate.meta")]
        static __FATCRATE_RECORD: $crate::shared::Record =
            $crate::shared::Record::new::<$type>(__fatcrate_shared);

        const { $crate::shared::refuse_generic(&__fatcrate_shared, &|| ()) };

        // SAFETY: the linker's body returns the address of memory for a `$type`, as the
        // record asks.
        unsafe { $crate::Shared::<$type>::from_address(__fatcrate_shared()) }
    }};
}

/// Memory for one `T` that all threads of the block share. A pointer that knows its type; made
/// by [`shared!`](crate::shared!).
///
/// The memory is uninitialised when a block starts, and nothing orders the accesses of
/// different threads but [`barrier`](crate::barrier) and atomics; so every access is `unsafe`.
pub struct Shared<T: 'static> {
    pointer: *mut T,
}

impl<T: 'static> Clone for Shared<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: 'static> Copy for Shared<T> {}

impl<T: 'static> Shared<T> {
    /// # Safety
    /// `address` is aligned for `T` and valid for reads and writes of a `T` by the threads of
    /// the block until the block ends.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn from_address(address: *mut u8) -> Self {
        Shared {
            pointer: address.cast(),
        }
    }

    /// The address, the same for all threads of the block: valid for reads and writes of a `T`
    /// until the block ends. Forming `&T` or `&mut T` from it is up to the caller: `&mut` only
    /// while no other thread touches the memory.
    #[inline(always)]
    #[must_use]
    pub const fn as_ptr(self) -> *mut T {
        self.pointer
    }
}

impl<T: Copy + 'static, const N: usize> Shared<[T; N]> {
    /// The number of elements.
    pub const LEN: usize = N;

    /// The address of one element. Panics if there is no element `index`.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn element(self, index: usize) -> *mut T {
        assert!(index < N, "index out of bounds of shared memory");
        // SAFETY: `index < N`, so that the element lies in the array.
        unsafe { self.pointer.cast::<T>().add(index) }
    }

    /// Reads one element. Panics if there is no element `index`.
    ///
    /// # Safety
    /// The element was written since the block started, and no other thread writes it between
    /// the last barrier and the next.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub unsafe fn read(self, index: usize) -> T {
        // SAFETY: `element` checks the index; the caller vouches for the value.
        unsafe { self.element(index).read() }
    }

    /// Writes one element. Panics if there is no element `index`.
    ///
    /// # Safety
    /// No other thread reads or writes the element between the last barrier and the next.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn write(self, index: usize, value: T) {
        // SAFETY: `element` checks the index; the caller vouches that nobody else is there.
        unsafe { self.element(index).write(value) }
    }
}

/// The start of the block's dynamic shared memory, [`dynamic_shared_bytes`] long, aligned to
/// 16 bytes. All calls in all functions give the same address.
#[inline(always)]
#[must_use]
pub fn dynamic_shared<T>() -> *mut T {
    const {
        assert!(
            align_of::<T>() <= 16,
            "dynamic shared memory is aligned to 16 bytes"
        )
    };
    __fc_dynamic_shared().cast()
}

/// The size of the block's dynamic shared memory in bytes, as the launch asked.
#[inline(always)]
#[must_use]
pub fn dynamic_shared_bytes() -> usize {
    __fc_dynamic_shared_bytes() as usize
}

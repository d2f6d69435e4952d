// What the operations need beside the row's macro.

macro_rules! vector_types {
    ($($v:ident $t:ty)*) => { $(
        #[derive(Clone, Copy)]
        #[repr(simd)]
        struct $v([$t; 4]);

        impl $v {
            /// Its elements. (`.0` of a vector is no place.)
            fn array(self) -> [$t; 4] {
                // SAFETY: both are four elements.
                unsafe { core::mem::transmute(self) }
            }
        }
    )* };
}
vector_types! { I8x4 i8 I16x4 i16 I32x4 i32 I64x4 i64 F32x4 f32 Index u32 Pointers *mut i32 }

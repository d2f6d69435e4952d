// One row for each operation that rustc hands to LLVM, over each type that it takes: `row!` makes
// a kernel of it in kernels.rs, and a function for the host in the program of the test. Rows of
// `all_rows` are left out where the time is short.

use core::hint::black_box;
use core::intrinsics::{self, simd};
use core::ops::*;
use core::sync::atomic::{self, *};

macro_rules! integers {
    ($t:ident $signed:ident $unsigned:ident) => {
        row! { ${concat(ctpop_, $t)}(x: $t) -> u32 = x.count_ones() }
        row! { ${concat(ctlz_, $t)}(x: $t) -> u32 = x.leading_zeros() }
        row! { ${concat(cttz_, $t)}(x: $t) -> u32 = x.trailing_zeros() }
        row! { ${concat(ctlz_nonzero_, $t)}(x: $t) -> u32 = unsafe { intrinsics::ctlz_nonzero(x | 1) } }
        row! { ${concat(cttz_nonzero_, $t)}(x: $t) -> u32 = unsafe { intrinsics::cttz_nonzero(x | 1 << ($t::BITS - 1)) } }
        row! { ${concat(bswap_, $t)}(x: $t) -> $t = x.swap_bytes() }
        row! { ${concat(bitreverse_, $t)}(x: $t) -> $t = x.reverse_bits() }
        row! { ${concat(rotate_left_, $t)}(x: $t, n: u32) -> $t = x.rotate_left(n) }
        row! { ${concat(rotate_right_, $t)}(x: $t, n: u32) -> $t = x.rotate_right(n) }
        row! { ${concat(three_way_compare_, $t)}(x: $t, y: $t) -> i8 = x.cmp(&y) as i8 }
        row! { ${concat(disjoint_bitor_, $t)}(x: $t, y: $t) -> $t = unsafe { intrinsics::disjoint_bitor(x & !y, y) } }
        row! { ${concat(add_overflow_, $t)}(x: $t, y: $t) -> [$t; 2] = { let (z, o) = x.overflowing_add(y); [z, o as $t] } }
        row! { ${concat(sub_overflow_, $t)}(x: $t, y: $t) -> [$t; 2] = { let (z, o) = x.overflowing_sub(y); [z, o as $t] } }
        row! { ${concat(mul_overflow_, $t)}(x: $t, y: $t) -> [$t; 2] = { let (z, o) = x.overflowing_mul(y); [z, o as $t] } }
        row! { ${concat(checked_div_, $t)}(x: $t, y: $t) -> [$t; 2] = x.checked_div(y).map_or([0, 0], |z| [z, 1]) }
        row! { ${concat(checked_rem_, $t)}(x: $t, y: $t) -> [$t; 2] = x.checked_rem(y).map_or([0, 0], |z| [z, 1]) }
        row! { ${concat(exact_div_, $t)}(x: $t) -> $t = unsafe { intrinsics::exact_div((x >> 3) / 7 * 7, 7) } }
        row! { ${concat(div_euclid_, $t)}(x: $t, y: $t) -> $t = x.wrapping_div_euclid(y | 1) }
        row! { ${concat(rem_euclid_, $t)}(x: $t, y: $t) -> $t = x.wrapping_rem_euclid(y | 1) }
        row! { ${concat(by_constant_, $t)}(x: $t) -> [$t; 2] = [x / 10, x % 13] }
        row! { ${concat(unchecked_shl_, $t)}(x: $t, n: u32) -> $t = unsafe { intrinsics::unchecked_shl(x, n % $t::BITS) } }
        row! { ${concat(unchecked_shr_, $t)}(x: $t, n: u32) -> $t = unsafe { intrinsics::unchecked_shr(x, n % $t::BITS) } }
        row! { ${concat(checked_shl_, $t)}(x: $t, n: u8) -> $t = x.checked_shl(n.into()).unwrap_or(77) }
        row! { ${concat(wrapping_, $t)}(x: $t, y: $t, z: $t) -> $t = x.wrapping_mul(y).wrapping_add(z).wrapping_sub(x) }
        row! { ${concat(saturating_add_, $t)}(x: $t, y: $t) -> $t = x.saturating_add(y) }
        row! { ${concat(saturating_sub_, $t)}(x: $t, y: $t) -> $t = x.saturating_sub(y) }
        row! { ${concat(saturating_mul_, $t)}(x: $t, y: $t) -> $t = x.saturating_mul(y) }
        row! { ${concat(carrying_mul_add_, $t)}(x: $t, y: $t, z: $t, c: $t) -> [$t; 2] = {
            let (low, high) = intrinsics::carrying_mul_add(x, y, z, c);
            [low as $t, high]
        } }
        row! { ${concat(pow_, $t)}(x: $t, n: u8) -> $t = x.wrapping_pow(n.into()) }
        row! { ${concat(isqrt_, $t)}(x: $t) -> $t = (x >> 1 & $t::MAX).isqrt() }
        row! { ${concat(select_unpredictable_, $t)}(b: bool, x: $t, y: $t) -> $t = intrinsics::select_unpredictable(b, x, y) }
        row! { ${concat(min_max_, $t)}(x: $t, y: $t, z: $t) -> $t = x.min(y).max(z) }
        row! { ${concat(to_f32_, $t)}(x: $t) -> f32 = x as f32 }
        row! { ${concat(to_f64_, $t)}(x: $t) -> f64 = x as f64 }
        row! { ${concat(to_f16_, $t)}(x: $t) -> f16 = x as f16 }
        row! { ${concat(from_f32_, $t)}(x: f32) -> $t = x as $t }
        row! { ${concat(from_f64_, $t)}(x: f64) -> $t = x as $t }
        row! { ${concat(from_f16_, $t)}(x: f16) -> $t = x as $t }
        row! { ${concat(from_f32_unchecked_, $t)}(x: i8) -> $t = unsafe { (x as $t as f32 / 4.0).to_int_unchecked::<$t>() } }
        row! { ${concat(from_f64_unchecked_, $t)}(x: i8) -> $t = unsafe { (x as $t as f64 / 4.0).to_int_unchecked::<$t>() } }
        row! { ${concat(extend_, $t)}(x: $t) -> [i128; 2] = [x as $signed as i128, x as $unsigned as i128] }
        row! { ${concat(truncate_, $t)}(x: u128) -> $t = x as $t }
        row! { ${concat(unaligned_, $t)}(x: [u8; 32], y: $t) -> [u8; 32] = unsafe {
            let mut x = x;
            let p = (&raw mut x).cast::<u8>().add(3).cast::<$t>();
            let old = p.read_unaligned();
            p.write_unaligned(y);
            intrinsics::unaligned_volatile_store(p.byte_add(7), old);
            let q = intrinsics::unaligned_volatile_load(p.byte_add(1));
            p.write_unaligned(q.rotate_left(3));
            x
        } }
        row! { ${concat(volatile_, $t)}(x: $t, y: $t) -> [$t; 2] = unsafe {
            let mut pair = [x, 1];
            (&raw mut pair[1]).write_volatile(y);
            [(&raw const pair[1]).read_volatile(), (&raw const pair[0]).read_volatile()]
        } }
    };
}

#[cfg(all_rows)]
integers! { u8 i8 u8 }
#[cfg(all_rows)]
integers! { i8 i8 u8 }
#[cfg(all_rows)]
integers! { u16 i16 u16 }
#[cfg(all_rows)]
integers! { i16 i16 u16 }
#[cfg(all_rows)]
integers! { u32 i32 u32 }
integers! { i32 i32 u32 }
#[cfg(all_rows)]
integers! { u64 i64 u64 }
#[cfg(all_rows)]
integers! { i64 i64 u64 }
integers! { u128 i128 u128 }
#[cfg(all_rows)]
integers! { i128 i128 u128 }

macro_rules! unsigned {
    ($($t:ident)*) => { $(
        row! { ${concat(funnel_shl_, $t)}(x: $t, y: $t, n: u32) -> $t = unsafe { intrinsics::unchecked_funnel_shl(x, y, n % $t::BITS) } }
        row! { ${concat(funnel_shr_, $t)}(x: $t, y: $t, n: u32) -> $t = unsafe { intrinsics::unchecked_funnel_shr(x, y, n % $t::BITS) } }
        row! { ${concat(carryless_mul_, $t)}(x: $t, y: $t) -> $t = intrinsics::carryless_mul(x, y) }
        row! { ${concat(abs_diff_, $t)}(x: $t, y: $t) -> $t = x.abs_diff(y) }
        row! { ${concat(midpoint_, $t)}(x: $t, y: $t) -> $t = $t::midpoint(x, y) }
        row! { ${concat(next_power_of_two_, $t)}(x: $t) -> $t = (x >> 1).next_power_of_two() }
    )* };
}
unsigned! { u32 }
#[cfg(all_rows)]
unsigned! { u8 u16 u64 u128 }

macro_rules! signed {
    ($($t:ident)*) => { $(
        row! { ${concat(abs_, $t)}(x: $t) -> [$t; 2] = [x.wrapping_abs(), x.signum()] }
        row! { ${concat(saturating_abs_, $t)}(x: $t) -> [$t; 2] = [x.saturating_abs(), x.saturating_neg()] }
    )* };
}
signed! { i32 i128 }
#[cfg(all_rows)]
signed! { i8 i16 i64 }

macro_rules! floats {
    ($t:ident $bits:ident) => {
        row! { ${concat(arithmetic_, $t)}(x: $t, y: $t) -> [$t; 4] = [x + y, x - y, x * y, x / y] }
        row! { ${concat(rem_, $t)}(x: $t, y: $t) -> $t = x % y }
        row! { ${concat(neg_abs_, $t)}(x: $t) -> [$t; 2] = [-x, x.abs()] }
        row! { ${concat(copysign_, $t)}(x: $t, y: $t) -> $t = x.copysign(y) }
        row! { ${concat(min_max_, $t)}(x: $t, y: $t) -> [$t; 2] = [x.min(y) + 0.0, x.max(y) + 0.0] }
        row! { ${concat(minimum_, $t)}(x: $t, y: $t) -> [$t; 2] = [x.minimum(y), x.maximum(y)] }
        row! { ${concat(clamp_, $t)}(x: $t) -> $t = x.clamp(-1.5, 2.25) }
        row! { ${concat(floor_, $t)}(x: $t) -> $t = intrinsics::${concat(floor, $t)}(x) }
        row! { ${concat(ceil_, $t)}(x: $t) -> $t = intrinsics::${concat(ceil, $t)}(x) }
        row! { ${concat(trunc_, $t)}(x: $t) -> $t = intrinsics::${concat(trunc, $t)}(x) }
        row! { ${concat(round_, $t)}(x: $t) -> $t = intrinsics::${concat(round, $t)}(x) }
        row! { ${concat(round_ties_even_, $t)}(x: $t) -> $t = intrinsics::${concat(round_ties_even_, $t)}(x) }
        row! { ${concat(sqrt_, $t)}(x: $t) -> $t = intrinsics::${concat(sqrt, $t)}(x) }
        row! { ${concat(fma_, $t)}(x: $t, y: $t, z: $t) -> $t = intrinsics::${concat(fma, $t)}(x, y, z) }
        row! { ${concat(next_, $t)}(x: $t) -> [$t; 2] = [x.next_up(), x.next_down()] }
        row! { ${concat(total_cmp_, $t)}(x: $t, y: $t) -> i8 = x.total_cmp(&y) as i8 }
        row! { ${concat(compare_, $t)}(x: $t, y: $t) -> [bool; 6] = [x < y, x <= y, x == y, x != y, x > y, x >= y] }
        row! { ${concat(partial_cmp_, $t)}(x: $t, y: $t) -> i8 = x.partial_cmp(&y).map_or(9, |o| o as i8) }
        row! { ${concat(classify_, $t)}(x: $t) -> u8 = x.classify() as u8 | (x.is_sign_negative() as u8) << 4 }
        row! { ${concat(to_bits_, $t)}(x: $t) -> $bits = if x.is_nan() { 0 } else { x.to_bits() } }
        row! { ${concat(midpoint_, $t)}(x: $t, y: $t) -> $t = x.midpoint(y) }
        row! { ${concat(signum_recip_, $t)}(x: $t) -> [$t; 2] = [x.signum(), x.recip()] }
        row! { ${concat(sum_, $t)}(x: [$t; 9]) -> [$t; 2] = [x.iter().sum(), x.iter().product()] }
        row! { ${concat(no_contraction_, $t)}(x: $t, y: $t, z: $t) -> $t = x * y + z }
    };
}
floats! { f16 u16 }
floats! { f32 u32 }
floats! { f64 u64 }

// With fast and algebraic operations only exact cases can be compared.
macro_rules! fast {
    ($($t:ident)*) => { $(
        row! { ${concat(fast_, $t)}(x: i8, y: i8) -> [$t; 4] = unsafe {
            let (x, y) = (x as $t, (y & 64 | 32) as $t);
            [
                intrinsics::fadd_fast(x, y), intrinsics::fsub_fast(x, y), intrinsics::fmul_fast(x, y),
                intrinsics::fdiv_fast(x * y, y) + intrinsics::frem_fast(x, y),
            ]
        } }
        row! { ${concat(algebraic_, $t)}(x: i8, y: i8) -> [$t; 4] = {
            let (x, y) = (x as $t, (y & 64 | 32) as $t);
            [x.algebraic_add(y), x.algebraic_sub(y), x.algebraic_mul(y), (x * y).algebraic_div(y) + x.algebraic_rem(y)]
        } }
        row! { ${concat(fmuladd_, $t)}(x: i8, y: i8) -> $t = intrinsics::${concat(fmuladd, $t)}(x as $t, 8.0, y as $t) }
        row! { ${concat(powi_, $t)}(x: u8, n: u8) -> $t = intrinsics::${concat(powi, $t)}((x % 4) as $t, (n % 5).into()) }
        row! { ${concat(exp2_, $t)}(x: u8) -> $t = intrinsics::${concat(exp2, $t)}((x % 8) as $t) }
        row! { ${concat(log2_, $t)}(x: u8) -> $t = intrinsics::${concat(log2, $t)}((1_u32 << (x % 15)) as $t) }
        row! { ${concat(zeros_, $t)}(x: u8) -> [$t; 6] = {
            let zero = black_box((x & 0) as $t);
            [
                intrinsics::${concat(sin, $t)}(zero), intrinsics::${concat(cos, $t)}(zero),
                intrinsics::${concat(exp, $t)}(zero), intrinsics::${concat(log, $t)}(zero),
                intrinsics::${concat(log10, $t)}(zero + 1.0), intrinsics::${concat(pow, $t)}(zero + 3.0, zero + 2.0),
            ]
        } }
    )* };
}
fast! { f16 f32 f64 }

row! { f16_to_f32(x: f16) -> f32 = x as f32 }
row! { f16_to_f64(x: f16) -> f64 = x as f64 }
row! { f32_to_f16(x: f32) -> f16 = x as f16 }
row! { f64_to_f16(x: f64) -> f16 = x as f16 }
row! { f32_to_f64(x: f32) -> f64 = x as f64 }
row! { f64_to_f32(x: f64) -> f32 = x as f32 }

macro_rules! atomics {
    ($($t:ident $atomic:ident)*) => { $(
        row! { ${concat(atomic_arithmetic_, $t)}(x: $t, y: $t) -> [$t; 8] = {
            let a = $atomic::new(x);
            [
                a.fetch_add(y, Ordering::Relaxed), a.fetch_sub(3, Ordering::Acquire),
                a.fetch_and(y, Ordering::Release), a.fetch_or(x, Ordering::AcqRel),
                a.fetch_xor(y, Ordering::SeqCst), a.fetch_nand(x, Ordering::SeqCst),
                a.swap(y, Ordering::AcqRel), a.load(Ordering::Acquire),
            ]
        } }
        row! { ${concat(atomic_extremes_, $t)}(x: $t, y: $t, z: $t) -> [$t; 3] = {
            let a = $atomic::new(x);
            [a.fetch_max(y, Ordering::SeqCst), a.fetch_min(z, Ordering::Relaxed), a.load(Ordering::SeqCst)]
        } }
        row! { ${concat(atomic_exchange_, $t)}(x: $t, y: $t, z: $t) -> [$t; 5] = {
            let a = $atomic::new(x);
            let first = a.compare_exchange(y, z, Ordering::SeqCst, Ordering::Relaxed).unwrap_or(1);
            let second = a.compare_exchange(x, y, Ordering::AcqRel, Ordering::Acquire).unwrap_or(2);
            a.store(a.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
            a.store(a.load(Ordering::Relaxed).wrapping_add(1), Ordering::SeqCst);
            let third = loop {
                match a.compare_exchange_weak(a.load(Ordering::Relaxed), z, Ordering::Release, Ordering::Relaxed) {
                    Ok(old) => break old,
                    Err(_) => continue,
                }
            };
            let fourth = a.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |v| v.checked_add(1)).unwrap_or(7);
            [first, second, third, fourth, a.into_inner()]
        } }
    )* };
}
atomics! { u8 AtomicU8 i16 AtomicI16 i32 AtomicI32 u64 AtomicU64 }
#[cfg(all_rows)]
atomics! { i8 AtomicI8 u16 AtomicU16 u32 AtomicU32 i64 AtomicI64 }
row! { atomic_bool(x: bool, y: bool) -> [bool; 4] = {
    let a = AtomicBool::new(x);
    [a.fetch_and(y, Ordering::SeqCst), a.fetch_nand(y, Ordering::SeqCst), a.fetch_not(Ordering::SeqCst), a.into_inner()]
} }
row! { atomic_pointer(x: [u8; 4]) -> [u8; 2] = {
    let mut x = x;
    let a = AtomicPtr::new(&raw mut x[0]);
    let old = a.swap(&raw mut x[2], Ordering::AcqRel);
    unsafe { [*old, *a.load(Ordering::Acquire)] }
} }
row! { fences(x: u32) -> u32 = {
    atomic::fence(Ordering::Acquire);
    atomic::fence(Ordering::Release);
    atomic::fence(Ordering::AcqRel);
    atomic::fence(Ordering::SeqCst);
    atomic::compiler_fence(Ordering::SeqCst);
    x
} }

row! { names(x: u8) -> [u8; 6] = {
    let name = core::any::type_name::<[Option<f16>; 3]>().as_bytes();
    let mut found = [x; 6];
    for (to, from) in found.iter_mut().zip(name) { *to ^= *from; }
    found
} }
row! { caller_location(x: u8) -> [u32; 2] = {
    #[track_caller]
    fn place(_: u8) -> u32 { core::panic::Location::caller().column() }
    [place(x), place(x + (x & 0))]
} }
row! { discriminants(x: [u8; 2]) -> [u8; 4] = {
    #[derive(Clone, Copy)]
    enum Kind { A(u8), B, C { d: bool } }
    let kind = match x[0] % 3 { 0 => Kind::A(x[1]), 1 => Kind::B, _ => Kind::C { d: x[1] > 9 } };
    let kinds = [Some(kind), None];
    let same = core::mem::discriminant(&kind) == core::mem::discriminant(&Kind::B);
    let which = kinds[usize::from(x[1] & 1)];
    let told = match which { Some(Kind::A(v)) => v, Some(Kind::B) => 2, Some(Kind::C { d }) => d.into(), None => 99 };
    [same as u8, told, core::mem::size_of_val(&which) as u8, core::mem::variant_count::<Option<u8>>() as u8]
} }
row! { compare_bytes(x: [u8; 9], y: [u8; 9]) -> [i8; 3] = {
    let mut near = x;
    near[(y[0] % 9) as usize] = y[1];
    [x[1..].cmp(&y[1..]) as i8, x.as_slice().cmp(&near) as i8, (x == near) as i8]
} }
row! { raw_eq(x: [u16; 3], y: bool) -> bool = { let z = [x[0], x[1], x[2] ^ u16::from(y)]; unsafe { intrinsics::raw_eq(&x, &z) } } }
row! { pointer_distance(x: u8) -> [i64; 2] = {
    let array = [0_u32; 300];
    let p = &raw const array[x as usize];
    unsafe { [p.offset_from(array.as_ptr()) as i64, array.as_ptr().byte_offset_from(p) as i64] }
} }
row! { swap_and_replace(x: [[u64; 5]; 2]) -> [[u64; 5]; 2] = {
    let [mut a, mut b] = x;
    core::mem::swap(&mut a, &mut b);
    a[0] = core::mem::replace(&mut b[4], a[1]);
    [a, b]
} }
row! { copies(x: [u8; 40], n: u8, m: u8) -> [u8; 40] = {
    let mut x = x;
    let (n, m) = ((n % 30) as usize, (m % 10) as usize);
    x.copy_within(n..n + m, 5);
    x.copy_within(2..20, n % 20);
    x[m..m + n / 2].fill(n as u8);
    x.rotate_left(m);
    x.reverse();
    x
} }
row! { volatile_memory(x: [u16; 6]) -> [u16; 12] = unsafe {
    let mut y = [1_u16; 12];
    intrinsics::volatile_copy_nonoverlapping_memory(y.as_mut_ptr(), x.as_ptr(), 6);
    intrinsics::volatile_copy_memory(y.as_mut_ptr().add(2), y.as_ptr(), 6);
    intrinsics::volatile_set_memory(y.as_mut_ptr().add(9), 0xA5, 2);
    y
} }
row! { nontemporal(x: [u64; 2]) -> [u64; 2] = unsafe { let mut y = [0; 2]; intrinsics::nontemporal_store(&raw mut y[1], x[0]); y[0] = x[1]; y } }
row! { prefetch(x: u32) -> u32 = { intrinsics::prefetch_read_data::<_, 3>(&raw const x); intrinsics::prefetch_write_data::<_, 0>(&raw const x); x } }
row! { hints(x: u32) -> u32 = {
    if intrinsics::likely(x & 1 == 0) { core::hint::cold_path(); }
    unsafe { core::hint::assert_unchecked(x as u64 <= u32::MAX as u64) };
    core::hint::spin_loop();
    black_box(x)
} }
row! { pointer_mask(x: u64) -> u64 = core::ptr::without_provenance::<u8>(x as usize).mask(!15).addr() as u64 }
row! { dynamic(x: u8, y: u8) -> [u32; 3] = {
    trait Shape { fn area(&self) -> u32; fn name(&self) -> u32 { 7 } }
    struct Square(u8);
    struct Oblong(u8, u8);
    impl Shape for Square { fn area(&self) -> u32 { u32::from(self.0).pow(2) } }
    impl Shape for Oblong { fn area(&self) -> u32 { u32::from(self.0) * u32::from(self.1) } fn name(&self) -> u32 { 8 } }
    let (square, oblong) = (Square(x), Oblong(x, y));
    let shape: &dyn Shape = if x > y { &square } else { &oblong };
    let f: fn(u8) -> u32 = if y & 1 == 0 { |v| u32::from(v) + 1 } else { |v| u32::from(v) * 3 };
    [black_box(shape).area() + shape.name(), core::mem::size_of_val(shape) as u32, black_box(f)(x)]
} }
row! { recursion(m: u8, n: u8) -> u32 = {
    fn ackermann(m: u32, n: u32) -> u32 {
        match (m, n) { (0, n) => n + 1, (m, 0) => ackermann(m - 1, 1), (m, n) => ackermann(m - 1, ackermann(m, n - 1)) }
    }
    ackermann((m % 3).into(), (n % 5).into())
} }
// Each kernel that calls through a pointer is assembled with all of the formatting code.
#[cfg(all_rows)]
row! { formatted(x: i32, y: f64, z: [u8; 3]) -> [u8; 64] = {
    use core::fmt::Write;
    struct Text([u8; 64], usize);
    impl Write for Text {
        fn write_str(&mut self, s: &str) -> core::fmt::Result {
            let end = self.1 + s.len();
            self.0.get_mut(self.1..end).ok_or(core::fmt::Error)?.copy_from_slice(s.as_bytes());
            self.1 = end;
            Ok(())
        }
    }
    let mut text = Text([b'.'; 64], 0);
    let _ = write!(text, "{x:+08}|{:#x}|{z:?}|{:>5}|", x as u16, x % 1000);
    let _ = write!(text, "{:.3e}|", if y.is_nan() { 0.0 } else { y });
    text.0
} }
row! { chars_of(x: u32) -> [u32; 4] = match char::from_u32(x % 0x30000) {
    Some(c) => [c.is_alphabetic().into(), c.to_ascii_uppercase().into(), c.len_utf8() as u32, c.is_numeric().into()],
    None => [9; 4],
} }
row! { sorted(x: [i16; 40]) -> [i16; 40] = { let mut x = x; x.sort_unstable(); x } }
row! { searched(x: [u8; 20], y: u8) -> i32 = { let mut x = x; x.sort_unstable(); x.binary_search(&y).map_or(-1, |i| x[i] as i32) } }

macro_rules! vectors {
    ($name:ident $v:ident $t:ident) => {
        row! { ${concat(simd_integer_, $name)}(x: [$t; 4], y: [$t; 4]) -> [[$t; 4]; 12] = unsafe {
            let (x, y) = ($v(x), $v(y));
            let odd = simd::simd_or(y, $v([1; 4]));
            let small = simd::simd_and(y, $v([7; 4]));
            [
                simd::simd_add(x, y).array(), simd::simd_sub(x, y).array(), simd::simd_mul(x, y).array(),
                simd::simd_xor(x, simd::simd_shl(y, small)).array(), simd::simd_shr(x, small).array(),
                simd::simd_div(simd::simd_shr(simd::simd_and(x, $v([$t::MAX; 4])), $v([1; 4])), odd).array(),
                simd::simd_saturating_add(x, y).array(), simd::simd_saturating_sub(x, y).array(),
                simd::simd_bswap(x).array(), simd::simd_bitreverse(x).array(), simd::simd_ctpop(x).array(),
                simd::simd_funnel_shl(x, y, small).array(),
            ]
        } }
        row! { ${concat(simd_reduce_, $name)}(x: [$t; 4], y: [$t; 4]) -> [$t; 8] = unsafe {
            let (a, b) = ($v(x), $v(y));
            let less: $v = simd::simd_lt(a, b);
            let chosen: $v = simd::simd_select(less, a, b);
            let mixed: $v = simd::simd_shuffle::<_, Index, _>(a, b, const { Index([7, 0, 3, 4]) });
            [
                simd::simd_reduce_add_ordered(a, 3), simd::simd_reduce_mul_ordered(b, 5), simd::simd_reduce_max(a),
                simd::simd_reduce_min(b), simd::simd_reduce_xor(mixed), simd::simd_reduce_and(chosen),
                simd::simd_bitmask::<_, u8>(less) as $t, simd::simd_extract::<_, $t>(simd::simd_insert(a, 2, 5 as $t), 2),
            ]
        } }
    };
}
#[cfg(all_rows)]
vectors! { i8 I8x4 i8 }
#[cfg(all_rows)]
vectors! { i16 I16x4 i16 }
vectors! { i32 I32x4 i32 }
#[cfg(all_rows)]
vectors! { i64 I64x4 i64 }

row! { simd_f32(x: [f32; 4], y: [f32; 4]) -> [[f32; 4]; 9] = unsafe {
    let (x, y) = (F32x4(x), F32x4(y));
    [
        simd::simd_add(x, y).array(), simd::simd_div(x, y).array(), simd::simd_neg(simd::simd_fabs(x)).array(),
        simd::simd_floor(x).array(), simd::simd_ceil(x).array(), simd::simd_trunc(x).array(), simd::simd_round_ties_even(x).array(),
        simd::simd_fsqrt(x).array(), simd::simd_fma(x, y, x).array(),
    ]
} }
row! { simd_rem_f32(x: [f32; 4], y: [f32; 4]) -> [f32; 4] = unsafe { simd::simd_rem(F32x4(x), F32x4(y)).array() } }
row! { simd_round_f32(x: [f32; 4]) -> [f32; 4] = unsafe { simd::simd_round(F32x4(x)).array() } }
row! { simd_sum_f32(x: [f32; 4]) -> [f32; 2] = unsafe { [simd::simd_reduce_add_ordered(F32x4(x), 1.0), simd::simd_reduce_mul_ordered(F32x4(x), 1.0)] } }
row! { simd_cast_f32(x: [f32; 4]) -> [i32; 4] = unsafe { simd::simd_as::<_, I32x4>(F32x4(x)).array() } }
row! { simd_cast_i32(x: [i32; 4]) -> [f32; 4] = unsafe { simd::simd_cast::<_, F32x4>(I32x4(x)).array() } }
row! { simd_cast_f32_i64(x: [f32; 4]) -> [i64; 4] = unsafe { simd::simd_as::<_, I64x4>(F32x4(x)).array() } }
row! { simd_zeros_f32(x: u8) -> [[f32; 4]; 4] = unsafe {
    let zero = F32x4([black_box((x & 0) as f32); 4]);
    [simd::simd_fsin(zero).array(), simd::simd_fcos(zero).array(), simd::simd_fexp(zero).array(), simd::simd_fexp2(zero).array()]
} }
row! { simd_gather_i32(x: [i32; 8], i: [u8; 4], m: [bool; 4]) -> [i32; 12] = unsafe {
    let mut x = x;
    let mask = I32x4(m.map(|b| -i32::from(b)));
    let places = Pointers(i.map(|i| (&raw mut x[(i % 8) as usize])));
    let found: I32x4 = simd::simd_gather(I32x4([7; 4]), places, mask);
    simd::simd_scatter(simd::simd_add(found, I32x4([1, 2, 3, 4])), places, mask);
    let loaded: I32x4 = simd::simd_masked_load::<_, _, _, { simd::SimdAlign::Element }>(mask, x.as_ptr(), I32x4([9; 4]));
    simd::simd_masked_store::<_, _, _, { simd::SimdAlign::Element }>(mask, x.as_mut_ptr().add(4), loaded);
    let mut out = [0; 12];
    out[..8].copy_from_slice(&x);
    out[8..].copy_from_slice(&loaded.array());
    out
} }
row! { portable_simd(x: [f32; 8], y: [f32; 8]) -> [f32; 8] = {
    use core::simd::{cmp::SimdPartialOrd, f32x8, num::SimdFloat, Select};
    let (x, y) = (f32x8::from_array(x), f32x8::from_array(y));
    let less = x.simd_lt(y);
    less.select(x + y, x * y).abs().reverse().to_array()
} }
row! { portable_simd_u8(x: [u8; 16], y: [u8; 16]) -> [u8; 16] = {
    use core::simd::{cmp::SimdOrd, num::SimdUint, u8x16};
    let (x, y) = (u8x16::from_array(x), u8x16::from_array(y));
    (x.saturating_add(y).simd_min(x ^ y)).swizzle_dyn(y).rotate_elements_left::<3>().to_array()
} }

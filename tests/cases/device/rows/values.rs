// More of what the language builds: order of drops, statics, packed, wide and empty values, text.
// Rows like those of ops.rs.

#[cfg(all_rows)]
row! { drops_in_order(x: u8, y: u8) -> [u8; 12] = {
    use core::cell::Cell;
    use core::mem::{ManuallyDrop, MaybeUninit};
    struct Log { at: Cell<usize>, kept: [Cell<u8>; 12] }
    impl Log { fn push(&self, v: u8) { let at = self.at.get(); if at < 12 { self.kept[at].set(v); } self.at.set(at + 1); } }
    struct Noisy<'a>(&'a Log, u8);
    impl Drop for Noisy<'_> { fn drop(&mut self) { self.0.push(self.1); } }
    fn pass<'a>(n: Noisy<'a>, keep: bool) -> Option<Noisy<'a>> { if keep { Some(n) } else { None } }
    fn early<'a>(log: &'a Log, x: u8) -> Option<u8> {
        let _first = Noisy(log, 20);
        let second = pass(Noisy(log, 21), x & 1 == 0)?;
        let moved = if x & 2 == 0 { Some(second) } else { core::mem::forget(second); None };
        let _guard = moved.as_ref().map(|m| m.1);
        Some(log.at.get() as u8)
    }
    let log = Log { at: Cell::new(0), kept: [const { Cell::new(0) }; 12] };
    let told = early(&log, x);
    {
        let array = [Noisy(&log, 1), Noisy(&log, 2)];
        let tuple = (Noisy(&log, 3), ManuallyDrop::new(Noisy(&log, 99)));
        let mut slot = MaybeUninit::<Noisy>::uninit();
        slot.write(Noisy(&log, 4));
        let taken: Box0<dyn Fn() -> u8 + '_> = Box0(&|| tuple.0.1 + array[0].1);
        log.push((taken.0)() + 100);
        // SAFETY: written above.
        if y & 1 == 0 { unsafe { slot.assume_init_drop() } }
        let [a, _] = array;
        if y & 2 == 0 { drop(a); }
    }
    log.push(told.map_or(200, |t| t + 150));
    log.kept.map(|c| c.get())
} }
struct Box0<'a, T: ?Sized>(&'a T);
#[cfg(all_rows)]
row! { statics_that_refer(x: u16, y: u8) -> [u32; 6] = {
    struct Node { value: u32, next: Option<&'static Node>, names: &'static [&'static str] }
    static A: Node = Node { value: 1, next: Some(&B), names: &["a", "ab"] };
    static B: Node = Node { value: 20, next: Some(&C), names: &[] };
    static C: Node = Node { value: 300, next: None, names: &["c", "", "cde"] };
    static MIDDLE: &u32 = &TABLE[5];
    static TABLE: [u32; 16] = { let mut t = [0; 16]; let mut i = 0; while i < 16 { t[i] = (i * i * i) as u32 ^ 0x55; i += 1; } t };
    const SINES: [f64; 8] = { let mut t = [0.0; 8]; let mut i = 0; while i < 8 { let v = i as f64 / 8.0; t[i] = v - v * v * v / 6.0; i += 1; } t };
    static BYTES: &[u8; 11] = b"byte\0string";
    static NESTED: [[Option<&[i8]>; 2]; 2] = [[None, Some(&[1, -2])], [Some(&[]), Some(&[3])]];
    let (mut node, mut sum) = (&A, 0_u32);
    for _ in 0..x % 9 { sum = sum * 2 + node.value + node.names.iter().map(|n| n.len() as u32).sum::<u32>(); node = node.next.unwrap_or(&A); }
    [
        sum, *MIDDLE + TABLE[(y & 15) as usize], SINES[(x & 7) as usize].to_bits() as u32, BYTES[(y % 11) as usize] as u32,
        NESTED[(x & 1) as usize][(y & 1) as usize].map_or(50, |s| s.iter().map(|v| *v as i32).sum::<i32>() as u32),
        core::ptr::eq(node, &B) as u32,
    ]
} }
#[cfg(all_rows)]
row! { packed_and_aligned(x: [u8; 21], y: u128) -> [u64; 6] = {
    #[repr(C, packed)]
    #[derive(Clone, Copy)]
    struct Packed { a: u8, b: u128, c: (u8, u16) }
    #[repr(C, align(128))]
    struct Apart(u8);
    #[repr(packed(2))]
    #[derive(Clone, Copy)]
    struct Halves { a: u8, b: f64, c: char }
    union Either { word: u64, bytes: [u8; 8], float: f64 }
    // SAFETY: any bytes are integers.
    let mut packed: Packed = unsafe { core::mem::transmute_copy(&x) };
    let apart = [Apart(x[0]), Apart(x[1])];
    let halves = black_box([Halves { a: x[2], b: y as f64, c: 'q' }; 2])[1];
    packed.b = { packed.b }.wrapping_add(y);
    let again = black_box(&mut packed);
    again.c.1 ^= 0x1234;
    let Halves { a, b, c } = halves;
    let mut either = Either { word: y as u64 };
    either.bytes[3] = x[5];
    // SAFETY: any bytes are an integer or a float.
    let (word, float) = unsafe { (either.word, either.float) };
    [
        { packed.b } as u64 ^ ({ packed.b } >> 64) as u64, packed.a as u64 + { packed.c }.1 as u64,
        (&raw const apart[1] as usize - &raw const apart[0] as usize + (&raw const apart as usize) % 128) as u64 + apart[1].0 as u64,
        a as u64 + b.to_bits() + c as u64, word, if float.is_nan() { 0 } else { float.to_bits() },
    ]
} }
#[cfg(all_rows)]
row! { wide_values(x: [u128; 2], y: i128, n: u8) -> [u128; 8] = {
    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Big { a: u8, b: u128, c: [u32; 5], odd: bool, d: i128 }
    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Answer { a: u128, b: i128, is: bool }
    #[inline(never)]
    fn make(x: u128, y: i128, n: u8) -> Big { Big { a: n, b: x, c: [n as u32; 5], odd: n & 1 == 1, d: y } }
    #[inline(never)]
    extern "C" fn through(big: Big, f: extern "C" fn(Big, u8) -> Answer, n: u8) -> Option<Answer> { Some(f(big, n)).filter(|a| a.is) }
    extern "C" fn pick(big: Big, n: u8) -> Answer {
        Answer { a: big.b.rotate_left(n as u32) ^ big.c[n as usize % 5] as u128, b: big.d.wrapping_mul(n as i128), is: big.odd }
    }
    extern "C" fn other(big: Big, n: u8) -> Answer { Answer { a: big.a as u128, b: 4, is: n & 4 == 0 } }
    let f = black_box([pick as extern "C" fn(_, _) -> _, other])[(n >> 1 & 1) as usize];
    let (a, b) = through(make(x[0], y, n), f, n).map_or((6, 5), |a| (a.a, a.b));
    let places = [x[0], x[1], y as u128, 3];
    [
        a, b as u128, x[0].checked_div(x[1]).unwrap_or(1), x[0].checked_rem(x[1]).unwrap_or(2),
        y.checked_div_euclid(n as i128 - 8).unwrap_or(3) as u128, x[1].wrapping_shl(n as u32) ^ x[0].wrapping_shr(n as u32),
        y.wrapping_shr(n as u32) as u128, places[n as usize % 4].leading_zeros() as u128 + (places[0] > places[1]) as u128 * 1000,
    ]
} }
#[cfg(all_rows)]
row! { halves_in_aggregates(x: [f16; 4], n: u8) -> [f16; 6] = {
    #[derive(Clone, Copy)]
    struct Mixed { a: f16, b: u8, c: [f16; 3], d: Option<f16> }
    #[inline(never)]
    fn swap(m: &mut Mixed, n: usize) -> (f16, f16) { core::mem::swap(&mut m.a, &mut m.c[n]); (m.a + m.c[0], m.a * m.c[1]) }
    enum Held { One(f16), Two(f16, f16), None }
    let mut mixed = Mixed { a: x[0], b: n, c: [x[1], x[2], x[3]], d: (n & 1 == 0).then_some(x[2]) };
    let pair = swap(black_box(&mut mixed), n as usize % 3);
    let held = black_box([Held::One(x[0]), Held::Two(x[1], x[3]), Held::None]);
    let sum = match held[n as usize % 3] { Held::One(v) => -v, Held::Two(v, w) => v - w, Held::None => f16::from(mixed.b as i8 > 0) };
    let sorted = { let mut y = x; y.sort_unstable_by(f16::total_cmp); y };
    [pair.0, pair.1, mixed.d.unwrap_or(9.5), sum, mixed.c[2], sorted[1] + 0.0]
} }
#[cfg(all_rows)]
row! { nothing_at_all(x: u8) -> [u64; 6] = {
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
    struct Nothing;
    trait Count { fn count(&self) -> u64; }
    impl Count for Nothing { fn count(&self) -> u64 { 1 } }
    impl<const N: usize> Count for [Nothing; N] { fn count(&self) -> u64 { self.iter().map(Count::count).sum() } }
    #[inline(never)]
    fn take(_: Nothing, x: u8, _: [u64; 0], _: core::marker::PhantomData<u64>, y: ((), u8)) -> (Nothing, u8) { (Nothing, x ^ y.1) }
    #[inline(never)]
    fn unit<T>(v: T) -> T { black_box(v) }
    let many = [Nothing; 300];
    let slice = &many[..x as usize];
    let object: &dyn Count = if x & 1 == 0 { &Nothing } else { &[Nothing; 5] };
    let mut sorted = [Nothing; 5];
    sorted.sort_unstable();
    let never: Result<u8, core::convert::Infallible> = Ok(x);
    let Ok(inside) = never;
    unit(());
    [
        slice.iter().count() as u64, slice.chunks(7).len() as u64, black_box(object).count(),
        take(unit(Nothing), x, [], core::marker::PhantomData, ((), 3)).1 as u64, inside as u64 + size_of::<Option<Nothing>>() as u64,
        (slice.iter().max() == Some(&Nothing)) as u64 * 2 + (slice == &many[1..][..x as usize]) as u64,
    ]
} }
#[cfg(all_rows)]
row! { pointers_to_pointers(x: [u32; 6], n: u8) -> [u32; 5] = {
    let mut values = x;
    let base = values.as_mut_ptr();
    // SAFETY: each index is below six.
    unsafe {
        let mut pointers: [*mut u32; 6] = core::array::from_fn(|i| base.add((i * 5 + n as usize) % 6));
        let mut second: [*mut *mut u32; 3] = core::array::from_fn(|i| pointers.as_mut_ptr().add(2 * i));
        let third: *mut *mut *mut u32 = black_box(second.as_mut_ptr());
        ***third += 7;
        **(*third.add(1)).add(1) ^= 0xff;
        core::mem::swap(&mut **third, &mut **third.add(2));
        **third.add(2) = (**third.add(2)).wrapping_sub((n % 2) as usize).max(base);
        let (first, again) = (black_box(**third), **third.add(2));
        let address = first.expose_provenance();
        let back = core::ptr::with_exposed_provenance_mut::<u32>(address);
        *back = (*back).rotate_left(3);
        [*first, *again % 1000, first.offset_from(base) as u32, values[(n % 6) as usize], again.is_aligned() as u32]
    }
} }
#[cfg(all_rows)]
row! { text(x: [u8; 12], y: i64) -> [u32; 7] = {
    use core::str;
    let ascii = x.map(|b| b & 0x7f);
    let valid = match str::from_utf8(&x) { Ok(s) => s, Err(e) => str::from_utf8(&x[..e.valid_up_to()]).unwrap() };
    let plain = str::from_utf8(&ascii).unwrap();
    let mut digits = [0; 20];
    let mut rest = y.unsigned_abs();
    let mut at = digits.len();
    while at == digits.len() || rest > 0 { at -= 1; digits[at] = b'0' + (rest % 10) as u8; rest /= 10; }
    let number = str::from_utf8(&digits[at..]).unwrap();
    [
        valid.chars().map(|c| c as u32).fold(1, |h, c| h.wrapping_mul(31) ^ c),
        plain.char_indices().filter(|(i, c)| i % 2 == 0 && c.is_ascii_alphanumeric()).count() as u32,
        plain.split(|c: char| c.is_ascii_punctuation()).map(|w| w.trim().len() as u32).max().unwrap(),
        (number.parse::<u64>() == Ok(y.unsigned_abs())) as u32 + number.parse::<i32>().map_or(7, |_| 2),
        plain.find(|c| c > 'a').map_or(99, |i| i as u32),
        x.utf8_chunks().map(|c| c.valid().len() as u32 * 16 + c.invalid().len() as u32).fold(0, |h, v| h.wrapping_mul(7) + v),
        plain.bytes().rev().position(|b| b == b'e').map_or(50, |p| p as u32) + plain.eq_ignore_ascii_case(number) as u32,
    ]
} }
#[cfg(all_rows)]
row! { iterators(x: [i32; 10], n: u8) -> [i64; 7] = {
    let n = n as usize % 10;
    let mut boxed: [&mut dyn Iterator<Item = i64>; 2] = [&mut x.iter().map(|v| *v as i64), &mut (0..n as i64).rev()];
    let alternating = core::iter::from_fn(|| { boxed.swap(0, 1); boxed[0].next() }).take(7).fold(0_i64, |h, v| h.wrapping_mul(3) + v);
    let mut sorted = x;
    let (low, middle, high) = sorted.select_nth_unstable(n);
    let parts = [low.len() as i64, *middle as i64, high.iter().copied().min().unwrap_or(0) as i64];
    let mut groups = 0;
    for group in x.chunk_by(|a, b| (a ^ b) & 1 == 0) { groups = groups * 11 + group.len() as i64; }
    [
        alternating, parts[0], parts[1], parts[2], groups,
        x.iter().zip(x.iter().skip(n)).step_by(2).map(|(a, b)| a.wrapping_sub(*b) as i64).sum(),
        x.iter().try_fold(0_i32, |s, v| s.checked_add(*v)).map_or(-1, |v| v as i64)
            ^ x.iter().rposition(|v| *v < 0).map_or(77, |p| p as i64) << 33,
    ]
} }
#[cfg(all_rows)]
row! { overflow_is_seen(x: i32, y: i32) -> [i64; 6] = [
    x.checked_neg().map_or(1, i64::from), x.checked_abs().map_or(2, i64::from), x.overflowing_shl(y as u32).0 as i64,
    x.checked_rem(y).map_or(3, i64::from), x.strict_or(y), x.carrying(y),
] }
trait Strict {
    fn strict_or(self, y: i32) -> i64;
    fn carrying(self, y: i32) -> i64;
}
impl Strict for i32 {
    fn strict_or(self, y: i32) -> i64 {
        if let Some(z) = self.checked_mul(y) {
            z.into()
        } else {
            -4
        }
    }
    fn carrying(self, y: i32) -> i64 {
        let (l, h) = (self as u32).widening(y as u32);
        (h as i64) << 32 | l as i64
    }
}
trait Widening {
    fn widening(self, y: u32) -> (u32, u32);
}
impl Widening for u32 {
    fn widening(self, y: u32) -> (u32, u32) {
        let w = self as u64 * y as u64;
        (w as u32, (w >> 32) as u32)
    }
}

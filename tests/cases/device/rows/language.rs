// What the language builds from operations: layouts of enums, vtables, closures, coroutines,
// patterns, loops. Rows like those of ops.rs.

row! { enum_niches(x: [u8; 4], y: u64) -> [u64; 8] = {
    use core::num::{NonZeroI8, NonZeroU64};
    #[derive(Clone, Copy, PartialEq)]
    enum Inner { A(bool), B(Option<bool>), C(u8, NonZeroU64), D { c: char } }
    fn make(k: u8, y: u64) -> Option<Option<Inner>> {
        match k % 7 {
            0 => None,
            1 => Some(None),
            2 => Some(Some(Inner::A(y & 1 == 1))),
            3 => Some(Some(Inner::B(Some(y & 2 == 2)))),
            4 => Some(Some(Inner::B(None))),
            5 => Some(Some(Inner::C(y as u8, NonZeroU64::new(y | 1).unwrap()))),
            _ => Some(Some(Inner::D { c: char::from_u32((y % 0xd800) as u32).unwrap() })),
        }
    }
    fn told(v: &Option<Option<Inner>>) -> u64 {
        match v {
            None => 1,
            Some(None) => 2,
            Some(Some(Inner::A(b))) => 10 + *b as u64,
            Some(Some(Inner::B(Some(b)))) => 20 + *b as u64,
            Some(Some(Inner::B(None))) => 29,
            Some(Some(Inner::C(a, b))) => b.get() ^ *a as u64,
            Some(Some(Inner::D { c })) => *c as u64,
        }
    }
    let all = black_box(x.map(|k| make(k, y)));
    let small = NonZeroI8::new(x[0] as i8);
    let result: Result<u64, char> = if y & 4 == 0 { Ok(y) } else { Err('\u{10ffff}') };
    [
        told(&all[0]), told(&all[1]), told(&all[2]), told(&all[3]),
        (all[0] == all[1]) as u64 | (all[2] == all[3]) as u64 * 2,
        size_of_val(&all) as u64 | (size_of::<Option<Option<Option<bool>>>>() as u64) << 32,
        black_box(small).map_or(300, |n| n.get() as u64),
        black_box(result).unwrap_or_else(|c| c as u64),
    ]
} }
#[cfg(all_rows)]
row! { enum_representations(x: u8, y: i64) -> [i64; 6] = {
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[repr(i16)]
    enum Code { Low = -300, Zero = 0, One, High = 12345 }
    #[repr(C, u16)]
    #[derive(Clone, Copy)]
    enum Tagged { A(i64) = 500, B { a: u8, b: i128 }, C }
    #[repr(u8)]
    #[derive(Clone, Copy)]
    enum Bytes { A([u8; 3]) = 200, B(u16), C(u8) }
    let code = black_box([Code::Low, Code::Zero, Code::One, Code::High])[(x & 3) as usize];
    let tagged = black_box([Tagged::A(y), Tagged::B { a: x, b: (y as i128) << 40 }, Tagged::C])[(x % 3) as usize];
    let bytes = black_box([Bytes::A([x, 2, 3]), Bytes::B(y as u16), Bytes::C(x)])[(y as u8 % 3) as usize];
    // SAFETY: both begin with their tag, of the type that `repr` names.
    let tags = unsafe { [(&raw const tagged).cast::<u16>().read() as i64, (&raw const bytes).cast::<u8>().read() as i64] };
    let held = match tagged { Tagged::A(v) => v, Tagged::B { a, b } => a as i64 ^ (b >> 40) as i64, Tagged::C => -1 };
    let other = match bytes { Bytes::A([a, b, c]) => a as i64 + b as i64 + c as i64, Bytes::B(v) => v as i64, Bytes::C(v) => -(v as i64) };
    [code as i64, (code < Code::One) as i64, tags[0], tags[1], held, other]
} }
#[cfg(all_rows)]
row! { slices_of_slices(x: [u16; 12], cut: [u8; 3]) -> [u64; 6] = {
    let (a, rest) = x.split_at(cut[0] as usize % 13);
    let (b, c) = rest.split_at(cut[1] as usize % (rest.len() + 1));
    let mut rows: [&[u16]; 5] = [a, b, c, &x[2..7], &[]];
    rows.sort_unstable_by(|l, r| l.len().cmp(&r.len()).then_with(|| r.cmp(l)));
    let rows: &[&[u16]] = black_box(&rows);
    let nested: [&[&[u16]]; 2] = [&rows[..2], &rows[2..]];
    let longest = rows.iter().copied().max_by_key(|r| (r.len(), r.first().copied())).unwrap();
    [
        rows.iter().flat_map(|r| r.iter()).fold(7, |h, v| (h * 31 + *v as u64) & 0xffff_ffff),
        nested.iter().map(|half| half.iter().map(|r| r.len()).sum::<usize>() as u64).fold(0, |h, n| h * 100 + n),
        longest.windows(2).filter(|w| w[0] < w[1]).count() as u64,
        longest.chunks_exact(cut[2] as usize % 3 + 1).map(|c| c.iter().map(|v| *v as u64).product::<u64>() & 0xffff).sum(),
        match *longest { [first, .., last] => (first as u64) << 16 | last as u64, [one] => one as u64, [] => 1 << 40 },
        rows.concat_length(),
    ]
} }
trait ConcatLength {
    fn concat_length(&self) -> u64;
}
impl ConcatLength for [&[u16]] {
    fn concat_length(&self) -> u64 {
        self.iter()
            .enumerate()
            .map(|(i, r)| (i * r.len()) as u64)
            .sum()
    }
}
row! { closures_in_statics(x: u32, y: i64) -> [i64; 4] = {
    static PLAIN: [fn(u32) -> u32; 4] = [|v| v.rotate_left(5), |v| v ^ 0xabcd, u32::swap_bytes, |v| v / 3];
    static BOXED: &[&(dyn Fn(i64, u32) -> i64 + Sync)] =
        &[&|a, b| a.wrapping_add(b as i64), &|a, b| a.wrapping_mul(b as i64 | 1), &i64::wrapping_shl];
    static NAMED: [(&str, Option<fn(&str, u32) -> usize>); 3] =
        [("one", Some(|s, v| s.len() + v as usize)), ("", None), ("three", Some(|s, v| s.as_bytes()[v as usize % 5] as usize))];
    let mut kept = y;
    let mut add = |v: i64| { kept = kept.wrapping_mul(3).wrapping_add(v); kept };
    let step: &mut dyn FnMut(i64) -> i64 = black_box(&mut add);
    let first = step(1);
    let second = step(first);
    let (name, function) = NAMED[x as usize % 3];
    [
        PLAIN.iter().fold(x, |v, f| f(v)) as i64,
        BOXED.iter().fold(y, |v, f| f(v, x)),
        function.map_or(-5, |f| f(name, x) as i64),
        second ^ PLAIN[y as usize & 3](x) as i64,
    ]
} }
#[cfg(all_rows)]
row! { generic_const_expressions(x: [u8; 5]) -> [u32; 6] = {
    struct Padded<const N: usize>([u8; N * 2 + 1]) where [(); N * 2 + 1]:;
    impl<const N: usize> Padded<N> where [(); N * 2 + 1]: {
        const LAST: usize = N * 2;
        fn of(from: &[u8; N]) -> Self {
            let mut made = [0; N * 2 + 1];
            for (i, v) in from.iter().enumerate() { made[2 * i] = *v; made[2 * i + 1] = !*v; }
            made[Self::LAST] = N as u8;
            Self(made)
        }
        fn sum(&self) -> u32 { self.0.iter().zip(1..).map(|(v, i)| *v as u32 * i).sum() }
    }
    trait Rank { const RANK: u32; }
    impl<const N: usize> Rank for [u8; N] { const RANK: u32 = const { (N * N) as u32 }; }
    fn flag<const B: bool, const C: char>() -> u32 { if B { C as u32 } else { 0 } }
    [
        Padded::of(&x).sum(), Padded::of(&[x[0], x[1]]).sum(), size_of::<Padded<7>>() as u32,
        <[u8; 6] as Rank>::RANK, flag::<true, 'ß'>(), flag::<false, 'x'>(),
    ]
} }
row! { trait_objects(x: u8, y: u64) -> [u64; 9] = {
    use core::any::Any;
    use core::fmt::Debug;
    trait Named { fn name(&self) -> u64 { 3 } fn twice(&mut self) {} }
    trait Sized2: Named + Any { fn size(&self) -> u64; fn own(&self) -> u64 { self.size() + self.name() } }
    #[derive(Debug, Clone, Copy)]
    struct Small(u8);
    #[derive(Debug, Clone, Copy)]
    #[repr(align(64))]
    struct Wide(u64, [u16; 3]);
    impl Named for Small { fn twice(&mut self) { self.0 = self.0.wrapping_mul(2); } }
    impl Named for Wide { fn name(&self) -> u64 { 4 } fn twice(&mut self) { self.0 = self.0.wrapping_add(self.1[1] as u64); } }
    impl Sized2 for Small { fn size(&self) -> u64 { self.0 as u64 } }
    impl Sized2 for Wide { fn size(&self) -> u64 { self.0 >> 3 } }
    struct Tail<T: ?Sized> { head: u8, tail: T }
    let (mut small, mut wide) = (Small(x), Wide(y, [1, x as u16, 3]));
    let object: &mut dyn Sized2 = if x & 1 == 0 { &mut small } else { &mut wide };
    let object = black_box(object);
    object.twice();
    let upcast: &mut dyn Named = object;
    upcast.twice();
    let name = upcast.name();
    let any: &dyn Any = if x & 2 == 0 { &small } else { &wide };
    let (told, place) = {
        let tails: (Tail<Small>, Tail<Wide>) = (Tail { head: 1, tail: small }, Tail { head: 2, tail: wide });
        let tail: &Tail<dyn Sized2> = if y & 1 == 0 { &tails.0 } else { &tails.1 };
        let tail = black_box(tail);
        let start = (&raw const *tail).cast::<u8>();
        let inner = (&raw const tail.tail).cast::<u8>();
        // SAFETY: both are in the same object.
        (tail.tail.own() + tail.head as u64, unsafe { inner.offset_from(start) } as u64)
    };
    [
        name, told, place, small.0 as u64, wide.0,
        black_box(any).downcast_ref::<Wide>().map_or(77, |w| w.1[1] as u64),
        any.is::<Small>() as u64,
        align_of_val(any) as u64 * 1000 + size_of_val(any) as u64,
        { let d: [&dyn Debug; 2] = [&small, &wide]; size_of_val(black_box(d)[(y & 1) as usize]) as u64 },
    ]
} }
row! { shared_trait_objects(x: u8) -> [u32; 3] = {
    trait Speak: Sync { fn speak(&self, v: u8) -> u32; }
    struct Cat;
    struct Dog(u8);
    impl Speak for Cat { fn speak(&self, v: u8) -> u32 { v as u32 + 9 } }
    impl Speak for Dog { fn speak(&self, v: u8) -> u32 { v as u32 * self.0 as u32 } }
    type Pair = (Option<&'static dyn Speak>, [u8; 3], fn(u8) -> u32);
    let place = shared_slot!(Pair);
    // SAFETY: each thread has a slot of its own.
    unsafe {
        place.write((if x & 1 == 0 { Some(&Cat) } else { None }, [x, 1, 2], |v| v as u32 * 1000));
        if x & 3 == 3 { (*black_box(place)).0 = Some(&const { Dog(7) }); }
        let (speaker, bytes, function) = black_box(place).read();
        [speaker.map_or(1, |s| s.speak(x)), bytes[(x % 3) as usize] as u32, function(x)]
    }
} }
#[cfg(all_rows)]
row! { jump_tables(x: u8, y: u64, z: i128) -> [u64; 5] = {
    #[inline(never)]
    fn dense(x: u8, y: u64) -> u64 {
        match x % 40 {
            0 => y + 1, 1 => y * 3, 2 => y ^ 5, 3 => !y, 4 => y << 3, 5 => y >> 3, 6 => y / 7, 7 => y % 7, 8 => y & 0xff,
            9 => y | 9, 10 => y.count_ones() as u64, 11 => y.leading_zeros() as u64, 12 => 99, 13 => y.rotate_left(13),
            14 => 7, 15 => y.swap_bytes(), 16 => y.reverse_bits(), 17 => y.pow(2), 18 => y.isqrt(), 19 => 6, 20 => 5,
            21 | 22 => 4, 23 => dense(x - 1, y), 24..=29 => y - x as u64, 30 => 0, 31 => 1, 32 => 1 << (y & 63), 33 => y * y,
            34 => y + y, 35 => 0xdead, 36 => y ^ y >> 7, 37 => y.trailing_zeros() as u64, 38 => 3, _ => u64::MAX,
        }
    }
    fn sparse(y: u64) -> u64 {
        match y { 0 => 1, 1 => 2, 0x1_0000_0000 => 3, 0x7fff_ffff_ffff_ffff => 4, 0x8000_0000_0000_0000.. => 5, 2..100 => 6, _ => 7 }
    }
    fn wide(z: i128) -> u64 {
        const EDGE: i128 = 1 << 90;
        match z { i128::MIN => 1, -5..=5 => 2, EDGE.. => 3, i128::MAX..=i128::MAX => 4, v if v & 1 == 0 => 5, _ => 6 }
    }
    fn word(x: u8) -> u64 {
        let words: [&str; 5] = ["", "alpha", "beta", "alphb", "gamma-ray"];
        match black_box(words)[(x % 5) as usize] { "alpha" => 1, "beta" => 2, "" => 3, w if w.starts_with("al") => 4, _ => 5 }
    }
    fn shape(t: (u8, Option<&[u8]>)) -> u64 {
        match t { (0..=9, None) => 1, (a @ 10..=99, Some([b, ..])) => (a + b / 2) as u64, (_, Some([.., 5])) => 3, (_, Some(s)) => s.len() as u64, _ => 5 }
    }
    let bytes = [x, 5];
    [dense(x, y >> 8), sparse(y), wide(z), word(x), shape((x, [None, Some(&bytes[..]), Some(&bytes[1..]), Some(&[])][(y & 3) as usize]))]
} }
#[cfg(all_rows)]
row! { deep_recursion(x: u8, y: u32) -> [u32; 4] = {
    fn even(n: u32, trail: &mut [u32; 8]) -> bool { trail[(n % 8) as usize] += n; n == 0 || odd(n - 1, trail) }
    fn odd(n: u32, trail: &mut [u32; 8]) -> bool { trail[(n % 8) as usize] ^= n; n != 0 && even(n - 1, trail) }
    struct List<'a>(u32, Option<&'a List<'a>>);
    fn sum(list: &List<'_>) -> u32 { list.0 + list.1.map_or(0, sum) }
    fn build(n: u32, tail: Option<&List<'_>>) -> u32 {
        let list = List(n * n, tail);
        if n == 0 { sum(&list) } else { build(n - 1, Some(&list)) }
    }
    fn hanoi(n: u32, from: u8, to: u8, moves: &mut dyn FnMut(u8, u8)) {
        if n > 0 { let other = 3 - from - to; hanoi(n - 1, from, other, moves); moves(from, to); hanoi(n - 1, other, to, moves); }
    }
    fn through(f: fn(u32, *const ()) -> u32, n: u32, again: *const ()) -> u32 { f(n, again) }
    fn collatz(n: u32, again: *const ()) -> u32 {
        // SAFETY: the pointer is `collatz`.
        let f: fn(u32, *const ()) -> u32 = unsafe { core::mem::transmute(again) };
        if n <= 1 { 0 } else { 1 + through(f, if n % 2 == 0 { n / 2 } else { (n * 3 + 1) & 0xffff }, again).min(500) }
    }
    let mut trail = [0; 8];
    let found = even((x % 100) as u32, &mut trail);
    let mut counted = 0_u32;
    hanoi((x % 8) as u32, 0, 2, &mut |a, b| counted = counted.wrapping_mul(5).wrapping_add((a * 3 + b) as u32));
    [found as u32 + trail.iter().fold(0, |h, v| h * 3 + v), build((y % 50) as u32, None), counted, collatz(y % 30 + 1, collatz as *const ())]
} }
#[cfg(all_rows)]
row! { loops_with_breaks(x: u32, y: [i8; 9]) -> [i64; 5] = {
    let mut state = x | 1;
    let mut next = move || { state ^= state << 13; state ^= state >> 17; state ^= state << 5; state };
    let found = 'outer: loop {
        let mut steps = 0;
        loop {
            steps += 1;
            let v = next();
            if v % 97 == 0 { break 'outer steps as i64; }
            if steps > 40 { break 'outer -(v as i64); }
            if v % 5 == 0 { continue 'outer; }
            if v % 7 == 3 { continue; }
        }
    };
    let block = 'block: {
        for (i, v) in y.iter().enumerate() {
            let Some(positive) = (if *v > 0 { Some(*v as i64) } else { None }) else { continue };
            if positive > 100 { break 'block i as i64 }
            if y[i..].iter().any(|w| *w as i64 == -positive) { break 'block positive }
        }
        -1
    };
    let mut stack = [0_i8; 9];
    let mut top = 0;
    for v in y { while top > 0 && stack[top - 1] > v { top -= 1; } stack[top] = v; top += 1; }
    let mut rest = &y[..];
    let mut pairs = 0;
    while let [a, b, tail @ ..] = rest { pairs = pairs * 3 + (a > b) as i64; rest = tail; }
    let labelled = 'a: { 'b: { if x & 1 == 0 { break 'a 5 } if x & 2 == 0 { break 'b } break 'a 7 } 9 };
    [found, block, top as i64, pairs, labelled]
} }
#[cfg(all_rows)]
row! { coroutines(x: u32, y: [u16; 4]) -> [u32; 3] = {
    use core::future::Future;
    use core::pin::{Pin, pin};
    use core::task::{Context, Poll, Waker};
    struct Twice(u8);
    impl Future for Twice {
        type Output = u32;
        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {
            self.0 += 1;
            cx.waker().wake_by_ref();
            if self.0 > 2 { Poll::Ready(self.0 as u32) } else { Poll::Pending }
        }
    }
    async fn inner(v: u16) -> u32 { let held = [v; 5]; let n = Twice(0).await; held.iter().map(|h| *h as u32).sum::<u32>() * n }
    async fn outer(x: u32, y: &[u16]) -> u32 {
        let mut total = x;
        for v in y { total = total.wrapping_mul(17) ^ inner(*v).await; if total & 64 == 0 { Twice(1).await; } }
        total
    }
    let mut context = Context::from_waker(Waker::noop());
    let mut task = pin!(outer(x, &y));
    let task: Pin<&mut dyn Future<Output = u32>> = task.as_mut();
    let mut task = black_box(task);
    let mut polls = 1;
    let result = loop { match task.as_mut().poll(&mut context) { Poll::Ready(v) => break v, Poll::Pending => polls += 1 } };
    [result, polls, core::iter::successors(Some(x), |v| (*v > 1).then(|| v / 3)).fold(0, |h, v| h ^ v)]
} }

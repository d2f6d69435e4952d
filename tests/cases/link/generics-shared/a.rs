#![no_std]
#[inline(never)]
pub fn largest<T: PartialOrd + Copy>(x: &[T]) -> Option<T> {
    let mut it = x.iter();
    let mut m = *it.next()?;
    for v in it {
        if *v > m {
            m = *v;
        }
    }
    Some(m)
}

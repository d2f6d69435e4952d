//! Collections of `heapless`.
#![no_std]

use core::fmt::Write;
use harness::Words;
use heapless::binary_heap::Max;
use heapless::index_map::FnvIndexMap;
use heapless::{BinaryHeap, Deque, String, Vec};

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let mut values: Vec<u32, 16> = Vec::new();
    while values.push((values.len() as u32 * 13 + i) % 29).is_ok() {}
    let mut heap: BinaryHeap<u32, Max, 16> = BinaryHeap::new();
    values.iter().for_each(|value| heap.push(*value).unwrap());
    out.u32(heap.pop().unwrap());
    out.u32(
        heap.into_vec()
            .iter()
            .fold(1, |hash, value| hash * 3 + value),
    );
    let mut map: FnvIndexMap<u32, u32, 32> = FnvIndexMap::new();
    for (n, value) in values.iter().enumerate() {
        *map.entry(*value % 7).or_insert(0).unwrap() += n as u32;
    }
    out.u32(map.len() as u32);
    out.u32(map.iter().map(|(key, value)| key * value).sum());
    let mut queue: Deque<u32, 4> = Deque::new();
    (0..4).for_each(|n| queue.push_front(n + i).unwrap());
    out.u32(queue.push_back(0).is_err().into());
    out.u32(queue.pop_back().unwrap());
    let mut text: String<32> = String::new();
    write!(text, "{:>6}", i).unwrap();
    out.bytes(&text.as_bytes()[..4]);
    out.u32(text.len() as u32);
}

harness::kernel!(heapless_case, 8, case);

//! Hash maps and sets of `hashbrown`, on the heap of the device.
#![no_std]

use harness::Words;
use hashbrown::{HashMap, HashSet};

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let mut map: HashMap<u32, u32> = HashMap::new();
    for n in 0..40 {
        *map.entry((n * 7 + i) % 19).or_insert(0) += n;
    }
    out.u32(map.len() as u32);
    out.u32(map.get(&(i % 19)).copied().unwrap_or(0));
    out.u32(map.iter().map(|(key, value)| key ^ value).sum());
    map.retain(|key, _| key % 2 == 0);
    out.u32(map.values().sum());
    let one: HashSet<u32> = (0..i % 30).collect();
    let other: HashSet<u32> = (10..25).collect();
    out.u32(one.intersection(&other).count() as u32);
}

harness::kernel!(hashbrown_case, 5, case);

//! `Vec`, `Box`, `BTreeMap` and `String` of `alloc` on the heap of the device.
#![no_std]

extern crate alloc;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use harness::Words;

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let values: Vec<u32> = (0..i % 40).map(|n| n * 3 + i).collect();
    let total = Box::new(values.iter().sum::<u32>());
    out.u32(*total);
    let mut map = BTreeMap::new();
    for value in &values {
        map.entry(value % 11).or_insert_with(Vec::new).push(*value);
    }
    out.u32(map.len() as u32);
    out.u32(
        map.range(3..8)
            .map(|(key, list)| key * list.len() as u32)
            .sum(),
    );
    let shapes: [Box<dyn Fn(u32) -> u32>; 2] = [Box::new(|x| x + 1), Box::new(move |x| x * i)];
    out.u32(shapes.iter().fold(i, |x, f| f(x)));
    out.text(&format!("{i}"));
    let mut text = String::from("ab");
    text.extend(core::iter::repeat_n('x', i as usize % 9));
    out.u32(text.len() as u32 + u32::from(text.ends_with('x')));
}

harness::kernel!(alloc_case, 7, case);

//! Prints the results of a case on this machine: `reference CASE ITEMS`, little-endian words.
//!
//! Built with the feature `case-NAME` for each case that it is to know.
use harness::Words;
use std::io::Write;

/// Words per item, and the function.
type Case = (usize, fn(u32, &mut Words));

/// The cases that the program was built with, by name.
fn cases() -> Vec<(&'static str, Case)> {
    macro_rules! cases {
        ($($feature:literal $name:literal $module:ident),* $(,)?) => {
            vec![$(
                #[cfg(feature = $feature)]
                ($name, ($module::WORDS, $module::case as fn(u32, &mut Words))),
            )*]
        };
    }
    cases![
        "case-alloc" "alloc" case_alloc,
        "case-arrayvec" "arrayvec" case_arrayvec,
        "case-base64" "base64" case_base64,
        "case-blake2" "blake2" case_blake2,
        "case-bytemuck" "bytemuck" case_bytemuck,
        "case-crc" "crc" case_crc,
        "case-fixed" "fixed" case_fixed,
        "case-fnv" "fnv" case_fnv,
        "case-glam" "glam" case_glam,
        "case-half" "half" case_half,
        "case-hashbrown" "hashbrown" case_hashbrown,
        "case-heapless" "heapless" case_heapless,
        "case-itoa" "itoa" case_itoa,
        "case-libm" "libm" case_libm,
        "case-memchr" "memchr" case_memchr,
        "case-micromath" "micromath" case_micromath,
        "case-nalgebra" "nalgebra" case_nalgebra,
        "case-num-traits" "num-traits" case_num_traits,
        "case-postcard" "postcard" case_postcard,
        "case-rand" "rand" case_rand,
        "case-ryu" "ryu" case_ryu,
        "case-sha2" "sha2" case_sha2,
        "case-siphasher" "siphasher" case_siphasher,
        "case-smallvec" "smallvec" case_smallvec,
    ]
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, name, items] = arguments.as_slice() else {
        panic!("usage: reference CASE ITEMS");
    };
    let items: usize = items.parse().expect("ITEMS is a number");
    let cases = cases();
    let (_, (words, case)) = cases
        .iter()
        .find(|(known, _)| known == name)
        .expect("the program was built without this case");
    let mut results = vec![0u32; words * items];
    for (i, item) in results.chunks_mut(*words).enumerate() {
        case(i as u32, &mut Words::new(item));
    }
    let bytes: Vec<u8> = results.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::io::stdout().write_all(&bytes).expect("stdout is open");
}

//! A procedural macro with a dependency.

use proc_macro::TokenStream;

/// Makes `const FACTORS: [u32; 3]`.
#[proc_macro]
pub fn factors(_input: TokenStream) -> TokenStream {
    let [a, b, c] = table::numbers();
    format!("const FACTORS: [u32; 3] = [{a}, {b}, {c}];")
        .parse()
        .expect("is Rust")
}

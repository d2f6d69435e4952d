use proc_macro::TokenStream;

#[proc_macro_derive(Answer)]
pub fn answer(input: TokenStream) -> TokenStream {
    let name = input.into_iter().nth(1).unwrap().to_string();
    let value = 40 + helper::for_host() as u32 * 2;
    format!("impl {name} {{ fn answer() -> u32 {{ {value} }} }}")
        .parse()
        .unwrap()
}

//! Runs on the host only, with the standard library.

pub struct Table {
    pub text: String,
    pub size: usize,
}

pub fn table(numbers: &str) -> Table {
    let values: Vec<u32> = numbers
        .split_whitespace()
        .map(|n| n.parse().unwrap())
        .collect();
    let size = values.len();
    Table {
        text: format!("pub static TABLE: [u32; {size}] = {values:?};\n"),
        size,
    }
}

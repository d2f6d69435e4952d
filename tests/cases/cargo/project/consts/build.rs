use std::{env, fs, path::Path};

fn main() {
    println!("cargo:rerun-if-changed=numbers.txt");
    let out = env::var("OUT_DIR").unwrap();
    let numbers = fs::read_to_string("numbers.txt").unwrap();
    let table = generator::table(&numbers);
    fs::write(Path::new(&out).join("table.rs"), &table.text).unwrap();
    // An absolute path in a made file, and one in a variable: both must not reach the outputs.
    let made = format!("include!(\"{out}/table.rs\");\n");
    fs::write(Path::new(&out).join("root.rs"), made).unwrap();
    fs::write(Path::new(&out).join("text.txt"), "12345").unwrap();
    println!("cargo:rustc-env=TEXT_FILE={out}/text.txt");
    println!("cargo:table-size={}", table.size);
}

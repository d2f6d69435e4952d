fn main() {
    println!("cargo:rustc-link-search=native=/opt/z");
    println!("cargo:rustc-link-lib=static=z");
}

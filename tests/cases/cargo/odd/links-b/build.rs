fn main() {
    println!(
        "cargo:rustc-env=N={}",
        std::env::var("DEP_NATIVELIKE_NUMBER").unwrap()
    );
}

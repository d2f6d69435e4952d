use std::{env, fs, path::Path};
fn main() {
    let out = env::var("OUT_DIR").unwrap();
    let number = env::var("DEP_NATIVELIKE_NUMBER").unwrap();
    fs::write(
        Path::new(&out).join("gen.rs"),
        format!("pub const DEP: u32 = {};", number),
    )
    .unwrap();
    println!("cargo::rustc-cfg=made");
    println!("cargo::rustc-check-cfg=cfg(made)");
    println!(
        "cargo::rustc-env=MADE_BY={}",
        env::var("CARGO_PKG_NAME").unwrap()
    );
    println!("cargo::rerun-if-changed=make.rs");
    assert_eq!(env::var("TARGET").unwrap(), "nvptx64-nvidia-cuda");
    assert!(env::var("CARGO_CFG_TARGET_ARCH").unwrap() == "nvptx64");
}

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Metadata of the build script of `consts`, which has `links`.
    let size = env::var("DEP_CONSTS_TABLE_SIZE").expect("consts has links");
    println!("cargo::rustc-env=TABLE_SIZE={size}");
    assert_eq!(env::var("CARGO_CFG_TARGET_ARCH").unwrap(), "nvptx64");
    assert_eq!(env::var("CARGO_PKG_VERSION_PRE").unwrap(), "beta.1");
    assert!(env::var_os("CARGO_FEATURE_OFFSET").is_some());
    assert!(env::var_os("CARGO_FEATURE_UNUSED").is_none());
    println!("cargo::rustc-check-cfg=cfg(from_script)");
    println!("cargo::rustc-cfg=from_script");
}

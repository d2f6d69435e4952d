"""fatcrate: build, link and pack Rust GPU kernels for many architectures."""

__version__ = "0.1.0"

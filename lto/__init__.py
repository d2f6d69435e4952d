"""The LTO linker: bitcode of many crates to one module, PTX per arch, and the CPU runner."""

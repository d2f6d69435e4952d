"""Fat binaries: reader, packer, embedder and inspector. Never imports LLVM."""

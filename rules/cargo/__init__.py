"""Cargo projects: `fatcrate import`, and the build scripts of imported crates."""

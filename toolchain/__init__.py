"""Words shared by all of fatcrate, and the pinned toolchain. Imports no sibling package."""

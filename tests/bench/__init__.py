"""Benchmarks, run by `./bench NAME`. Each module declares one as ``BENCH``."""

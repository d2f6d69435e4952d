"""``python -m fatcrate``: the same command as the installed ``fatcrate``."""

from fatcrate.rules.cli import main

if __name__ == "__main__":
    raise SystemExit(main())

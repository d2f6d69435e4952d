"""Names: demangling Rust's v0 and legacy schemes, crate of a symbol, names valid in PTX.

v0 grammar: Rust RFC 2603 and the rustc book, "v0 Symbol Format". Output is as compilers show
it: crate disambiguators and integer suffixes left out (``core::option::unwrap_failed``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_BASIC = {
    "a": "i8",
    "b": "bool",
    "c": "char",
    "d": "f64",
    "e": "str",
    "f": "f32",
    "h": "u8",
    "i": "isize",
    "j": "usize",
    "l": "i32",
    "m": "u32",
    "n": "i128",
    "o": "u128",
    "p": "_",
    "s": "i16",
    "t": "u16",
    "u": "()",
    "v": "...",
    "x": "i64",
    "y": "u64",
    "z": "!",
}
_MAX_DEPTH = 200
_MAX_OUTPUT = 20_000


class _Invalid(Exception):
    """The text is not a v0 name."""


class _V0:
    """A recursive-descent printer over one mangled name (without ``_R``)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.printed = 0
        self.lifetimes = 0

    def demangle(self) -> str:
        if self.peek().isdigit():
            raise _Invalid  # a future encoding version
        result = self.path(value=True)
        if self.at < len(self.text) and self.peek() not in ".$":
            self.path(value=False)  # instantiating crate, not shown
        if self.at < len(self.text) and self.peek() not in ".$":
            raise _Invalid
        return result

    def peek(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def take(self) -> str:
        if self.at >= len(self.text):
            raise _Invalid
        self.at += 1
        return self.text[self.at - 1]

    def eat(self, char: str) -> bool:
        if self.peek() == char:
            self.at += 1
            return True
        return False

    def keep(self, text: str) -> str:
        """Counts output, so that nested back references cannot make it explode."""
        self.printed += len(text)
        if self.printed > _MAX_OUTPUT:
            raise _Invalid
        return text

    def base62(self) -> int:
        if self.eat("_"):
            return 0
        value = 0
        while not self.eat("_"):
            char = self.take()
            if char.isdigit() and char.isascii():
                digit = int(char)
            elif "a" <= char <= "z":
                digit = ord(char) - ord("a") + 10
            elif "A" <= char <= "Z":
                digit = ord(char) - ord("A") + 36
            else:
                raise _Invalid
            value = value * 62 + digit
            if value > 1 << 64:
                raise _Invalid
        return value + 1

    def disambiguator(self) -> int:
        return self.base62() + 1 if self.eat("s") else 0

    def identifier(self) -> str:
        punycode = self.eat("u")
        start = self.at
        if not self.eat("0"):
            while self.peek().isdigit() and self.peek().isascii():
                self.at += 1
        digits = self.text[start : self.at]
        if not digits or len(digits) > 6:
            raise _Invalid
        self.eat("_")
        length = int(digits)
        if self.at + length > len(self.text):
            raise _Invalid
        name = self.text[self.at : self.at + length]
        self.at += length
        return self.keep(_punycode(name) if punycode else name)

    def nested(self, parse: Callable[[], str]) -> str:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise _Invalid
        result = parse()
        self.depth -= 1
        return result

    def backref(self, parse: Callable[[], str]) -> str:
        position = self.at - 1
        target = self.base62()
        if target >= position:
            raise _Invalid
        resume, self.at = self.at, target
        result = self.keep(self.nested(parse))
        self.at = resume
        return result

    def path(self, value: bool) -> str:
        return self.nested(lambda: self._path(value))

    def _path(self, value: bool) -> str:
        tag = self.take()
        if tag == "C":
            self.disambiguator()
            return self.identifier()
        if tag == "N":
            space = self.take()
            parent = self.path(value)
            number = self.disambiguator()
            name = self.identifier()
            if space.isupper():
                kind = {"C": "closure", "S": "shim"}.get(space, space)
                label = f":{name}" if name else ""
                return self.keep(f"{parent}::{{{kind}{label}#{number}}}")
            return self.keep(f"{parent}::{name}") if name else parent
        if tag in "MX":
            self.disambiguator()
            self.path(value=False)
            subject = self.type()
            if tag == "M":
                return self.keep(f"<{subject}>")
            return self.keep(f"<{subject} as {self.path(value=False)}>")
        if tag == "Y":
            subject = self.type()
            return self.keep(f"<{subject} as {self.path(value=False)}>")
        if tag == "I":
            base = self.path(value)
            arguments = ", ".join(self.until_end(self.generic_argument))
            return self.keep(f"{base}{'::' if value else ''}<{arguments}>")
        if tag == "B":
            return self.backref(lambda: self.path(value))
        raise _Invalid

    def until_end(self, parse: Callable[[], str]) -> list[str]:
        items = []
        while not self.eat("E"):
            items.append(parse())
        return items

    def generic_argument(self) -> str:
        if self.eat("L"):
            return self.lifetime()
        if self.eat("K"):
            return self.constant()
        return self.type()

    def lifetime(self) -> str:
        index = self.base62()
        if index == 0:
            return "'_"
        depth = self.lifetimes - index
        if depth < 0:
            raise _Invalid
        return f"'{chr(ord('a') + depth)}" if depth < 26 else f"'_{depth}"

    def type(self) -> str:
        return self.nested(self._type)

    def _type(self) -> str:
        tag = self.take()
        if tag in _BASIC:
            return _BASIC[tag]
        if tag == "A":
            return self.keep(f"[{self.type()}; {self.constant()}]")
        if tag == "S":
            return self.keep(f"[{self.type()}]")
        if tag == "T":
            items = self.until_end(self.type)
            return self.keep(f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})")
        if tag in "RQ":
            lifetime = ""
            if self.eat("L"):
                name = self.lifetime()
                lifetime = "" if name == "'_" else name + " "
            return self.keep(f"&{lifetime}{'mut ' if tag == 'Q' else ''}{self.type()}")
        if tag == "P":
            return self.keep(f"*const {self.type()}")
        if tag == "O":
            return self.keep(f"*mut {self.type()}")
        if tag == "F":
            return self.binder(self.function)
        if tag == "D":
            bounds = self.binder(lambda: " + ".join(self.until_end(self.dyn_trait)))
            if not self.eat("L"):
                raise _Invalid
            lifetime = self.lifetime()
            tail = "" if lifetime == "'_" else f" + {lifetime}"
            return self.keep(f"dyn {bounds}{tail}")
        if tag == "B":
            return self.backref(self.type)
        self.at -= 1
        return self.path(value=False)

    def binder(self, parse: Callable[[], str]) -> str:
        count = self.base62() + 1 if self.eat("G") else 0
        if count > 1000:
            raise _Invalid
        before = self.lifetimes
        self.lifetimes += count
        names = ", ".join(
            f"'{chr(ord('a') + i)}" if i < 26 else f"'_{i}" for i in range(before, before + count)
        )
        body = parse()
        self.lifetimes = before
        return self.keep(f"for<{names}> {body}" if count else body)

    def function(self) -> str:
        text = "unsafe " if self.eat("U") else ""
        if self.eat("K"):
            abi = "C" if self.eat("C") else self.identifier().replace("_", "-")
            text += f'extern "{abi}" '
        text += f"fn({', '.join(self.until_end(self.type))})"
        return text if self.eat("u") else f"{text} -> {self.type()}"

    def dyn_trait(self) -> str:
        if self.peek() == "I":
            self.at += 1
            base = self.path(value=False)
            arguments = []
            while not self.eat("E"):
                arguments.append(self.binding() if self.peek() == "p" else self.generic_argument())
            return self.bindings(base, arguments)
        return self.bindings(self.path(value=False), [])

    def bindings(self, base: str, arguments: list[str]) -> str:
        while self.peek() == "p":
            arguments.append(self.binding())
        if not arguments:
            return base
        return self.keep(f"{base}<{', '.join(arguments)}>")

    def binding(self) -> str:
        self.take()
        return f"{self.identifier()} = {self.type()}"

    def constant(self) -> str:
        return self.nested(self._constant)

    def _constant(self) -> str:
        if self.eat("p"):
            return "_"
        if self.eat("B"):
            return self.backref(self.constant)
        tag = self.take()
        negative = tag in "ailnsx" and self.eat("n")
        start = self.at
        while self.peek() and self.peek() in "0123456789abcdef":
            self.at += 1
        digits = self.text[start : self.at]
        if tag not in "ahijlmnostxybc" or not self.eat("_") or len(digits) > 32:
            raise _Invalid
        number = int(digits, 16) if digits else 0
        if tag == "b":
            return "true" if number else "false"
        if tag == "c":
            if number > 0x10FFFF:
                raise _Invalid
            return repr(chr(number))
        return f"{'-' if negative else ''}{number}"


def _punycode(text: str) -> str:
    head, _, tail = text.rpartition("_")
    encoded = f"{head}-{tail}" if head else tail
    try:
        return encoded.encode("ascii").decode("punycode")
    except (UnicodeError, ValueError, OverflowError) as error:
        raise _Invalid from error


_LEGACY_ESCAPES = {
    "$SP$": "@",
    "$BP$": "*",
    "$RF$": "&",
    "$LT$": "<",
    "$GT$": ">",
    "$LP$": "(",
    "$RP$": ")",
    "$C$": ",",
}
_LEGACY_HASH = re.compile(r"h[0-9a-f]{16}")
_LEGACY_UNICODE = re.compile(r"\$u([0-9a-f]{1,6})\$")


def _legacy(name: str) -> str | None:
    if not name.startswith("_ZN"):
        return None
    at, parts = 3, []
    while at < len(name) and name[at] != "E":
        match = re.compile(r"[1-9]\d{0,5}").match(name, at)
        if not match:
            return None
        at = match.end() + int(match[0])
        if at > len(name):
            return None
        parts.append(name[match.end() : at])
    if at >= len(name) or len(parts) < 2 or not _LEGACY_HASH.fullmatch(parts[-1]):
        return None
    shown = []
    for part in parts[:-1]:
        text = part[1:] if part.startswith("_$") else part
        for escape, plain in _LEGACY_ESCAPES.items():
            text = text.replace(escape, plain)
        text = _LEGACY_UNICODE.sub(
            lambda m: chr(int(m[1], 16)) if int(m[1], 16) <= 0x10FFFF else m[0], text
        )
        shown.append(text.replace("..", "::"))
    return "::".join(shown)


def demangle(name: str) -> str:
    """The name as a Rust author knows it; names of other languages come back unchanged."""
    if name.startswith("_R"):
        try:
            return _V0(name[2:]).demangle()
        except (_Invalid, RecursionError):
            return name
    return _legacy(name) or name


def describe(name: str) -> str:
    """The demangled name, with the mangled one behind it where they differ."""
    plain = demangle(name)
    return f"`{plain}`" if plain == name else f"`{plain}` ({name})"


def internal_name(name: str) -> str:
    """The last part of a rustc-internal symbol: ``__rust_alloc`` for any rustc's mangling.

    rustc puts its runtime symbols in a crate ``__rustc`` whose disambiguator changes with
    its version: ``_RNvCs<hash>_7___rustc12___rust_alloc``. Other names come back unchanged.
    """
    if name.startswith("_RNvC") and "7___rustc" in name:
        return demangle(name).removeprefix("__rustc::")
    return name


_PTX_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_$]*|[_$%][A-Za-z0-9_$]+")
_PTX_BAD = re.compile(r"[^A-Za-z0-9_$]")


def is_ptx_name(name: str) -> bool:
    """Whether PTX takes the identifier as it is (PTX ISA, section "Identifiers")."""
    return _PTX_NAME.fullmatch(name) is not None


def ptx_name(name: str) -> str:
    """A PTX name made from ``name``: every byte that PTX refuses becomes ``$xx``."""
    if is_ptx_name(name):
        return name
    text = _PTX_BAD.sub(lambda m: "".join(f"${b:02x}" for b in m[0].encode("utf-8")), name)
    return text if is_ptx_name(text) else f"_{text}_"


def nearest(name: str, candidates: Iterable[str], limit: int = 3) -> list[str]:
    """The candidates, demangled, that come nearest to ``name``; the best first."""
    import difflib

    wanted = demangle(name)
    tail = wanted.rsplit("::", 1)[-1]
    scores: dict[str, float] = {}
    for plain in {demangle(candidate) for candidate in candidates}:
        if plain == wanted:
            continue
        for whole, part in ((wanted, plain), (tail, plain.rsplit("::", 1)[-1])):
            matcher = difflib.SequenceMatcher(None, whole, part)
            if matcher.real_quick_ratio() >= 0.75 and matcher.quick_ratio() >= 0.75:
                scores[plain] = max(scores.get(plain, 0.0), matcher.ratio())
    best = sorted((-score, plain) for plain, score in scores.items() if score >= 0.75)
    return [plain for _, plain in best[:limit]]


def listed(items: Iterable[str], word: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *most, last = items
    return f"{', '.join(most)} {word} {last}" if most else last

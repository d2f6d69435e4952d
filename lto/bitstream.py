"""LLVM's bit stream: values, abbreviations and records.

Format: https://llvm.org/docs/BitCodeFormat.html. Decoded in bulk where that is possible, since
Python is slow at single bits.
"""

from __future__ import annotations


class Truncated(Exception):
    """The stream ended, or a count cannot be true."""


#: Values that are taken out of one integer; a long one is slow to shift.
_CHUNK = 24
_PIECES = 32  # of six bits
_BYTES = (7 + 6 * _PIECES + 7) // 8  # that hold them, wherever the first begins


class Reader:
    """A cursor over a bit stream (little endian, LSB first)."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.size = len(data) * 8
        self.position = 0

    def fixed(self, width: int) -> int:
        """The next ``width`` bits."""
        position = self.position
        if position + width > self.size:
            raise Truncated
        self.position = position + width
        byte = position >> 3
        window = int.from_bytes(self.data[byte : byte + 9], "little")
        return (window >> (position & 7)) & ((1 << width) - 1)

    def vbr(self, width: int) -> int:
        """A value in pieces of ``width`` bits, the highest of each for: more follows."""
        high = 1 << (width - 1)
        piece = self.fixed(width)
        if piece < high:
            return piece
        value, shift = piece - high, width - 1
        while True:
            piece = self.fixed(width)
            value |= (piece & (high - 1)) << shift
            if piece < high:
                return value
            shift += width - 1
            if shift > 70:
                raise Truncated

    def fields(self, width: int, count: int) -> list[int]:
        """``count`` values of ``width`` bits."""
        if width * count > self.size - self.position:
            raise Truncated
        position, self.position = self.position, self.position + width * count
        mask, values = (1 << width) - 1, []
        for start in range(0, count, _CHUNK):
            here, number = position + start * width, min(_CHUNK, count - start)
            last = here + number * width
            window = int.from_bytes(self.data[here >> 3 : (last + 7) >> 3], "little") >> (here & 7)
            for _ in range(number):
                values.append(window & mask)
                window >>= width
        return values

    def vbr6s(self, count: int) -> list[int]:
        """``count`` values of the encoding that records without abbreviation use."""
        values: list[int] = []
        value = shift = 0
        while len(values) < count:
            missing, left = count - len(values), (self.size - self.position) // 6
            if missing > left:  # each value that is still to come has one piece or more
                raise Truncated
            start = self.position >> 3
            window = int.from_bytes(self.data[start : start + _BYTES], "little")
            window >>= self.position & 7
            for used in range(1, min(_PIECES, left) + 1):  # noqa: B007 - counted below
                piece = window & 63
                window >>= 6
                if piece & 32:
                    value |= (piece & 31) << shift
                    shift += 5
                    if shift > 70:
                        raise Truncated
                else:
                    values.append(value | piece << shift)
                    value = shift = 0
                    missing -= 1
                    if not missing:
                        break
            self.position += 6 * used
        return values

    def align(self) -> None:
        """Goes on to the next 32-bit word."""
        self.position = (self.position + 31) & ~31
        if self.position > self.size:
            raise Truncated


Abbreviation = list[tuple[str, int]]


def define_abbreviation(reader: Reader) -> Abbreviation:
    """Reads the definition of an abbreviation: its operands, each with a width or value."""
    count = reader.vbr(5)
    if count > 4096:
        raise Truncated
    operands: Abbreviation = []
    for _ in range(count):
        if reader.fixed(1):
            operands.append(("literal", reader.vbr(8)))
            continue
        encoding = reader.fixed(3)
        if encoding in (1, 2):
            width = reader.vbr(5)
            if width > 64:
                raise Truncated
            kind = "fixed" if encoding == 1 else "vbr"
            operands.append((kind, width) if width else ("literal", 0))
        elif encoding in (3, 4, 5):
            operands.append((("array", "char6", "blob")[encoding - 3], 0))
        else:
            raise Truncated
    return operands


_CHAR6 = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"


def _scalar(reader: Reader, operand: tuple[str, int]) -> int:
    kind, value = operand
    if kind == "literal":
        return value
    if kind == "fixed":
        return reader.fixed(value)
    if kind == "vbr":
        if value < 2:
            raise Truncated
        return reader.vbr(value)
    if kind == "char6":
        return _CHAR6[reader.fixed(6)]
    raise Truncated


def _array(reader: Reader, element: tuple[str, int], count: int) -> list[int]:
    kind, width = element
    if kind == "fixed":
        return reader.fields(width, count)
    if kind == "char6":
        return [_CHAR6[value] for value in reader.fields(6, count)]
    return [_scalar(reader, element) for _ in range(count)]


def record(reader: Reader, abbreviation: Abbreviation | None) -> tuple[int, list[int], memoryview]:
    """Reads one record: its code, operands and blob (empty for most)."""
    no_blob = reader.data[:0]
    if abbreviation is None:
        code, count = reader.vbr(6), reader.vbr(6)
        if count * 6 > reader.size - reader.position:
            raise Truncated
        return code, reader.vbr6s(count), no_blob
    values: list[int] = []
    index = 0
    while index < len(abbreviation):
        operand = abbreviation[index]
        if operand[0] == "array":
            count = reader.vbr(6)
            if index + 1 >= len(abbreviation):
                raise Truncated
            element = abbreviation[index + 1]
            if element[0] == "literal" or count > reader.size - reader.position:
                raise Truncated
            values += _array(reader, element, count)
            break
        if operand[0] == "blob":
            length = reader.vbr(6)
            reader.align()
            start = reader.position >> 3
            if start + length > len(reader.data):
                raise Truncated
            reader.position = (start + length) * 8
            reader.align()
            if not values:
                raise Truncated
            return values[0], values[1:], reader.data[start : start + length]
        values.append(_scalar(reader, operand))
        index += 1
    if not values:
        raise Truncated
    return values[0], values[1:], no_blob

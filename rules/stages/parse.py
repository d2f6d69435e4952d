"""Reads the text of each stage: LLVM IR, PTX, SASS (MIR: ``mir.py``)."""

from __future__ import annotations

import re

from fatcrate.rules.stages.model import Chain, Listing, Place, parse_chain

#: Lines from this on are rows of the table at the end of the PTX; see ``lto/places.py``.
FIRST_PLACE = 1_000_000

_ROW = re.compile(r"^// place (\d+) = (.*)$", re.MULTILINE)


def table(ptx: str) -> dict[int, Chain]:
    """The places that lines of this PTX, and of the SASS made from it, stand for."""
    return {int(m[1]): parse_chain(m[2]) for m in _ROW.finditer(ptx)}


def _chain(rows: dict[int, Chain], file: str, line: int) -> Chain:
    if line == 0:
        return ()
    known = rows.get(line)
    if known is not None:
        return known
    return (Place(file.removeprefix("./"), line),) if file and line < FIRST_PLACE else ()


def ir(stage: str, text: str) -> Listing:
    """The output of ``fatcrate ir --kernel``."""
    listing = Listing(stage)
    for line in text.splitlines():
        code, mark, comment = line.rpartition("  ; ")
        chain = parse_chain(comment) if mark else ()
        instruction = line.startswith("  ") and line.strip()[:1] not in ("]", ";")
        listing.add(code if chain else line, chain, instruction=instruction)
    return listing


_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+\d+")
_BLOCK = re.compile(r"^(?:\.\w+ +)*\.(?:entry|func)\b[^\n]*")
_CALLED = re.compile(r"[A-Za-z_$%][\w$]*")
#: Labels that serve debug information alone.
_DEBUG_LABEL = re.compile(r"^\$L__(?:tmp\d+|func_(?:begin|end)\d+):$")


def ptx(text: str, kernel: str) -> Listing:
    """The kernel and the functions that it calls, from the PTX of a whole module."""
    rows = table(text)
    files = {m[1]: m[2] for m in _FILE.finditer(text)}
    blocks = _ptx_blocks(text)
    order = {kernel: None} if kernel in blocks else {}
    queue = list(order)
    while queue:
        for word in _CALLED.findall("\n".join(blocks[queue.pop(0)])):
            if word in blocks and word not in order:
                order[word] = None
                queue.append(word)
    listing = Listing("ptx")
    for name in order:
        chain: Chain = ()
        if listing.lines:
            listing.add("", instruction=False)
        for line in blocks[name]:
            if match := _LOC.match(line):
                chain = _chain(rows, files.get(match[1], ""), int(match[2]))
            elif not _DEBUG_LABEL.match(line):
                code = line.strip()
                instruction = line.startswith("\t") and code[:1] not in (".", "/", "{", "}", "")
                listing.add(
                    line.expandtabs(8), chain if instruction else (), instruction=instruction
                )
    return listing


def _ptx_blocks(text: str) -> dict[str, list[str]]:
    """Lines of each kernel and function with a body, by name. LLVM writes the name on the
    first line, or for a function with a result on the line after that."""
    blocks: dict[str, list[str]] = {}
    block: list[str] | None = None
    for line in text.splitlines():
        if block is None and _BLOCK.match(line):
            block = []
        if block is None:
            continue
        block.append(line)
        if line == "}":
            if name := _ptx_name(block):
                blocks[name] = block
            block = None
        elif line.rstrip().endswith(";") and not any(each == "{" for each in block):
            block = None  # a declaration
    return blocks


_RESULT = re.compile(r"\.(?:entry|func)\s*(?:\([^)]*\)\s*)?([A-Za-z_$%][\w$]*)")


def _ptx_name(block: list[str]) -> str:
    match = _RESULT.search("\n".join(block[:4]))
    return match[1] if match else ""


_SASS_PLACE = re.compile(r'^\s*//## File "([^"]*)", line (\d+)')
_SASS_CODE = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(.*)$")
_SASS_LABEL = re.compile(r"^[.$\w]+:\s*$")


def sass(text: str, kernel: str, rows: dict[int, Chain]) -> Listing:
    """The kernel's section of the output of ``nvdisasm -g``; ``rows`` from its PTX."""
    listing = Listing("sass")
    inside = False
    chain: Chain = ()
    for line in text.splitlines():
        if line.startswith("//-----") or line.lstrip().startswith(".section"):
            inside, chain = False, ()
        elif line.rstrip() == f".text.{kernel}:":
            inside = True
        elif not inside:
            continue
        elif match := _SASS_PLACE.match(line):
            chain = _chain(rows, match[1], int(match[2]))
        elif _SASS_CODE.match(line):
            listing.add(re.sub(r"\s{2,}", "  ", line.strip()), chain)
        elif _SASS_LABEL.match(line):
            listing.add(line.strip(), instruction=False)
    return listing

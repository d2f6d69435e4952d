"""Architectures: parsing, checking and ordering. The Starlark twin of `toolchain/arch.py`.

Spellings: `sm_90`, `sm_90a`, `sm_100f` (a cubin), `compute_90` (PTX text), `9.0`, `9.0a`,
`10.0f` (the same as `sm_…`), `9.0+PTX` (cubin and PTX), `gfx942`, `gfx9-4-generic`. Numbers
order as numbers. A test runs both parsers over one table.
"""

ARCH_GROUPS = ["all", "all-major"]
SPELLINGS = "sm_90, sm_90a, sm_100f, compute_90, 9.0, 9.0a, 9.0+PTX"

_DIGITS = "0123456789"
_HEX = "0123456789abcdef"
_KIND_ORDER = {"sm": 0, "compute": 1, "gfx": 2}
_SUFFIX_ORDER = {"": 0, "f": 1, "a": 2}

def _arch(kind, number, suffix):
    name = "gfx" + suffix if kind == "gfx" else kind + "_" + str(number) + suffix
    return struct(
        kind = kind,
        number = number,
        suffix = suffix,
        name = name,
        target_cpu = name if kind == "gfx" else "sm_" + str(number) + suffix,
        is_ptx = kind == "compute",
    )

def _is_number(text, least, most):
    """Whether `text` is a decimal number of `least` to `most` digits without a leading 0."""
    if len(text) < least or len(text) > most or text[0] == "0":
        return False
    for c in text.elems():
        if c not in _DIGITS:
            return False
    return True

def _split_suffix(text):
    """("90", "a") for "90a"."""
    if text and text[-1] in "af":
        return (text[:-1], text[-1])
    return (text, "")

def _parse_prefixed(kind, rest):
    number, suffix = _split_suffix(rest)
    if not _is_number(number, 2, 3):
        return []
    return [_arch(kind, int(number), suffix)]

def _parse_dotted(text):
    with_ptx = text.endswith("+PTX")
    if with_ptx:
        text = text[:-len("+PTX")]
    text, suffix = _split_suffix(text)
    parts = text.split(".")
    if len(parts) != 2 or len(parts[1]) != 1 or parts[1] not in _DIGITS:
        return []
    if not _is_number(parts[0], 1, 2):
        return []
    number = int(parts[0]) * 10 + int(parts[1])
    archs = [_arch("sm", number, suffix)]
    if with_ptx:
        archs.append(_arch("compute", number, suffix))
    return archs

def _parse_gfx(rest):
    if rest.endswith("-generic"):
        parts = rest[:-len("-generic")].split("-")
        if len(parts) > 2 or not _is_number(parts[0], 1, 2):
            return []
        if len(parts) == 2 and (len(parts[1]) != 1 or parts[1] not in _DIGITS):
            return []
        minor = int(parts[1]) if len(parts) == 2 else 0
        return [_arch("gfx", int(parts[0]) * 1000 + minor * 100, rest)]
    major = rest[:-2]
    if not _is_number(major, 1, 2) or rest[-2] not in _DIGITS or rest[-1] not in _HEX:
        return []
    number = int(major) * 1000 + int(rest[-2]) * 100 + _HEX.index(rest[-1])
    return [_arch("gfx", number, rest)]

def parse_arch(text):
    """Parses one spelling.

    Args:
      text: a spelling, such as "sm_90a" or "9.0+PTX".

    Returns:
      A list of arches (two for "+PTX"), empty if `text` is not a spelling. An arch is a
      struct of `kind` ("sm", "compute", "gfx"), `number`, `suffix`, `name` (canonical),
      `target_cpu` (what LLVM and ptxas call it) and `is_ptx`.
    """
    if text.startswith("sm_"):
        return _parse_prefixed("sm", text[len("sm_"):])
    if text.startswith("compute_"):
        return _parse_prefixed("compute", text[len("compute_"):])
    if text.startswith("gfx"):
        return _parse_gfx(text[len("gfx"):])
    return _parse_dotted(text)

def _sort_key(arch):
    return (_KIND_ORDER[arch.kind], arch.number, _SUFFIX_ORDER.get(arch.suffix, 3), arch.suffix)

def parse_arch_list(texts):
    """Parses spellings separated by commas or spaces, sorts them and drops duplicates.

    Args:
      texts: list of strings.

    Returns:
      A pair: the sorted list of arches, and the list of words that are no spelling.
    """
    found = {}
    bad = []
    for item in texts:
        for word in item.replace(",", " ").split(" "):
            if not word:
                continue
            archs = parse_arch(word)
            if not archs:
                bad.append(word)
            for arch in archs:
                found[_sort_key(arch)] = arch
    return ([found[key] for key in sorted(found)], bad)

def arch_group(name, cubin_archs):
    """What `all` and `all-major` stand for.

    Args:
      name: "all" or "all-major".
      cubin_archs: names (`sm_…`) that the toolchain builds, ordered by number.

    Returns:
      A list of names: each base arch, or the first of each generation, and PTX of the newest
      of them for GPUs to come. Empty for another name.
    """
    if name not in ARCH_GROUPS:
        return []
    base = [parse_arch(arch)[0] for arch in cubin_archs]
    base = [arch for arch in base if not arch.suffix]
    first = {}
    for arch in base:
        key = arch.number // 10 if name == "all-major" else arch.number
        if key not in first:
            first[key] = arch.name
    names = first.values()
    return names + [name.replace("sm_", "compute_") for name in names[-1:]]

def _nearest(arch, known):
    """The buildable arches next to `arch` below and above, by number."""
    older = None
    newer = None
    for name in known:
        other = parse_arch(name)[0]
        if other.number <= arch.number:
            older = name
        elif newer == None:
            newer = name
    return [name for name in [older, newer] if name != None]

def _unbuildable(arch, buildable):
    known = [name.replace("sm_", "compute_") if arch.is_ptx else name for name in buildable]
    if arch.kind == "gfx" or not known:
        return arch.name + ": this toolchain does not build " + arch.kind + " architectures"
    return arch.name + ": the toolchain does not know it; nearest: " + ", ".join(_nearest(arch, known))

def checked_archs(target, texts, cubin_archs, ptx_archs):
    """Parses an arch list and stops the build with all its faults.

    Args:
      target: label of the target whose list it is, for messages.
      texts: list of spellings.
      cubin_archs: names (`sm_…`) that LLVM and ptxas both know.
      ptx_archs: names (`sm_…`) that LLVM knows.

    Returns:
      The sorted list of arches, at least one.
    """
    words = []
    for text in texts:
        for word in text.replace(",", " ").split(" "):
            words += arch_group(word, cubin_archs) or [word]
    archs, bad = parse_arch_list(words)
    faults = [word + ": not an architecture; write it like one of: " + SPELLINGS for word in bad]
    for arch in archs:
        buildable = ptx_archs if arch.is_ptx else cubin_archs
        if arch.target_cpu not in buildable:
            faults.append(_unbuildable(arch, buildable))
    if not archs and not faults:
        faults.append("no architecture is asked for")
    if faults:
        fail("\n".join(
            [str(target) + ": cannot build these archs:"] +
            ["  " + fault for fault in faults] +
            ["  choose from: " + ", ".join(cubin_archs + ARCH_GROUPS)] +
            ["  or, as PTX: " + ", ".join([a.replace("sm_", "compute_") for a in ptx_archs])],
        ))
    return archs

"""Sources of a crate: its root, its name, and generated sources beside checked-in ones."""

_IDENTIFIER_START = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
_IDENTIFIER = _IDENTIFIER_START + "0123456789"

def crate_name(ctx):
    """The crate's name in Rust: the attribute `crate_name`, or the target's name.

    Args:
      ctx: context of a crate rule.

    Returns:
      A string that is a Rust identifier.
    """
    name = ctx.attr.crate_name or ctx.label.name.replace("-", "_")
    bad = [c for c in name.elems() if c not in _IDENTIFIER]
    if bad or name[0] not in _IDENTIFIER_START:
        fail("{}: {} is not a crate name: it must be letters, digits and _, not starting with a digit; set crate_name".format(
            ctx.label,
            repr(name),
        ))
    return name

def _root_candidates(ctx, name):
    package = ctx.label.package + "/" if ctx.label.package else ""
    return [package + path for path in ["src/lib.rs", "lib.rs", name + ".rs"]]

def _find_root(ctx, name):
    """The root among `srcs`: the attribute, the only file, or one with a customary name."""
    if ctx.attr.crate_root:
        return ctx.file.crate_root
    rust = [file for file in ctx.files.srcs if file.extension == "rs"]
    if len(rust) == 1:
        return rust[0]
    for candidate in _root_candidates(ctx, name):
        for file in rust:
            if _workspace_path(file) == candidate:
                return file
    fail("{}: srcs hold no crate root; name it with crate_root, or have one of: {}".format(
        ctx.label,
        ", ".join(_root_candidates(ctx, name)),
    ))

def _workspace_path(file):
    """Path of the file in its repository: `examples/saxpy/kern.rs`."""
    path = file.short_path
    if path.startswith("../"):
        path = path.partition("/")[2].partition("/")[2]
    return path

def _gathered(ctx, files):
    """Links to all files in one folder of outputs, laid out as in their packages."""
    folder = ctx.label.name + ".srcs/"
    links = {}
    for file in files:
        link = ctx.actions.declare_file(folder + _workspace_path(file))
        ctx.actions.symlink(output = link, target_file = file)
        links[file] = link
    return links

def crate_sources(ctx, name):
    """Finds a crate's root and what is compiled.

    rustc looks for modules beside the root. When some sources are generated and others are
    not, all are linked into one folder, and messages keep naming the places they come from.

    Args:
      ctx: context of a rule with `srcs`, `crate_root`, `compile_data`.
      name: the crate's name.

    Returns:
      struct(root, files, origin, remaps): root source (File), all files, and what the recipe
      calls origin and remaps.
    """
    root = _find_root(ctx, name)
    files = depset(ctx.files.srcs + [root] + ctx.files.compile_data).to_list()
    generated = [file for file in files if not file.is_source]
    origin = _workspace_path(root)
    if ctx.label.workspace_name:
        origin = ctx.label.workspace_name + "/" + origin
    remaps = []
    if generated and len(generated) < len(files):
        links = _gathered(ctx, files)
        suffix = "/" + _workspace_path(root)
        remaps = [(links[root].path[:-len(suffix)] + "/", "")]
        root, files = links[root], links.values()
    elif generated:
        remaps = [(root.root.path + "/", "")]
    return struct(root = root, files = files, origin = origin, remaps = remaps)

"""``fatcrate completion``: completion of the command line in bash, zsh and fish.

The scripts ask the command itself for candidates, so that they know every option, the targets
of the project in the present folder or above it, and the kernels of a target, as the last build
knew them.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import os
import re
from typing import TYPE_CHECKING, Any

from fatcrate.toolchain import arch

if TYPE_CHECKING:
    from fatcrate.toolchain.diagnostics import Kind

_BASH = """\
_fatcrate() {
    local IFS=$'\\n'
    COMPREPLY=($(fatcrate completion --candidates -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -o bashdefault -F _fatcrate fatcrate
"""

_ZSH = """\
#compdef fatcrate
_fatcrate() {
    local -a found
    found=(${(f)"$(fatcrate completion --candidates -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    if (( ${#found} )); then compadd -a found; else _files; fi
}
# In a folder of fpath this file is the function itself; else it is sourced.
if [[ $funcstack[1] == _fatcrate ]]; then _fatcrate "$@"; else compdef _fatcrate fatcrate; fi
"""

_FISH = """\
function __fatcrate_candidates
    set -l words (commandline -opc)
    set -l found (fatcrate completion --candidates -- $words[2..-1] (commandline -ct) 2>/dev/null)
    if test -n "$found"
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c fatcrate -f -a '(__fatcrate_candidates)'
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}

_EPILOG = """\
examples:
  source <(fatcrate completion bash)                          in ~/.bashrc
  source <(fatcrate completion zsh)                           in ~/.zshrc, after compinit
  fatcrate completion zsh > ~/.zfunc/_fatcrate                a folder of fpath, before compinit
  fatcrate completion fish > ~/.config/fish/completions/fatcrate.fish
"""

#: Commands whose arguments are targets or crates of the project.
_OF_TARGETS = ("build", "check", "clippy", "fmt")
#: Commands whose arguments are a target and a kernel.
_OF_KERNELS = ("run", "stages")
#: Options whose value is an arch, or archs with commas between them.
_OF_ARCHS = ("--arch", "--archs")

#: A line of `--help` that describes options starts with two spaces and a dash.
_OPTIONS = re.compile(r"^ {2}(-.*)$", re.M)
_OPTION = re.compile(r"(?:^|, )(--?[A-Za-z][a-z-]*)")
_WITH_VALUE = re.compile(r"(?:^|, )(--?[A-Za-z][a-z-]*) [^ -]")
_CHOICES = re.compile(r"(-{1,2}[a-z][a-z-]*)[ =]\{([^}]*)\}")


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate completion``."""
    made = argparse.ArgumentParser(
        prog="fatcrate completion",
        description="Print a script that completes fatcrate's command line in a shell.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("shell", choices=SCRIPTS, help="the shell")
    return made


def main(argv: list[str]) -> int:
    """Runs the command; see ``--help``."""
    if argv[:2] == ["--candidates", "--"]:
        print("\n".join(candidates(argv[2:])))
        return 0
    print(SCRIPTS[parser().parse_args(argv).shell], end="")
    return 0


def candidates(words: list[str]) -> list[str]:
    """What the last of ``words``, which may be empty, can be completed to.

    ``words`` are those after the program's name. Nothing means that a file may come.
    """
    from fatcrate.rules import cli

    last = words[-1] if words else ""
    if len(words) < 2:
        found = [*cli.COMMANDS, "help", "--help", "--version"]
    elif words[0] == "help":
        found = list(cli.COMMANDS)
    elif words[0] in cli.COMMANDS:
        found = _of_command(words[0], words[1:-1], last)
    else:
        found = []
    return sorted({word for word in found if word.startswith(last)})


def _of_command(command: str, words: list[str], last: str) -> list[str]:
    """Candidates for the ``last`` word of a command; ``words`` stand before it."""
    text = _help(command)
    previous = words[-1] if words else ""
    choices = {option: listed.split(",") for option, listed in _CHOICES.findall(text)}
    if previous in choices:
        return list(choices[previous])
    if previous in _OF_ARCHS:
        return _archs(last, groups=previous == "--archs" and command == "build")
    if last.startswith("-"):
        return [option for line in _OPTIONS.findall(text) for option in _OPTION.findall(line)]
    if command == "completion":
        return [*SCRIPTS]
    if command == "explain":
        return [kind.code for kind in _kinds()]
    if command in _OF_TARGETS:
        return _known("names")
    return _target_or_kernel(text, words) if command in _OF_KERNELS else []


def _kinds() -> list[Kind]:
    from fatcrate.rules import cli

    return cli.kinds()


def _target_or_kernel(text: str, words: list[str]) -> list[str]:
    """Targets for a first argument, the kernels of that target for a second."""
    valued = {option for line in _OPTIONS.findall(text) for option in _WITH_VALUE.findall(line)}
    before = ["", *words]
    given = [
        word
        for previous, word in zip(before, words, strict=False)
        if not word.startswith("-") and previous not in valued
    ]
    if (words and words[-1] in valued) or len(given) > 1:
        return []
    return _kernels(given[0]) if given else _known("targets")


def _help(command: str) -> str:
    """The text of a command's ``--help``."""
    from fatcrate.rules import cli

    module, function = cli.COMMANDS[command].entry.split(":")
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        getattr(importlib.import_module(module), function)(["--help"])
    return text.getvalue()


def _read(name: str) -> Any:
    """A JSON file of the project's output folder; an empty document where there is none."""
    folder = os.getcwd()
    while not os.path.exists(os.path.join(folder, "fatcrate.yaml")):
        if (above := os.path.dirname(folder)) == folder:
            folder = "."
            break
        folder = above
    try:
        with open(os.path.join(folder, "fatcrate-out", name), encoding="utf-8") as stream:
            return json.load(stream)
    except (OSError, ValueError):
        return {}


def _known(what: str) -> list[str]:
    """``names`` of targets and crates of the project here, or its ``targets`` alone, as the
    last build knew them."""
    try:
        return [str(name) for name in _read(".fatcrate/state.json")[what]]
    except (KeyError, TypeError):
        return []


def _kernels(target: str) -> list[str]:
    """The kernels of a built target."""
    try:
        return [str(kernel["name"]) for kernel in _read(f"{target}.manifest.json")["kernels"]]
    except (KeyError, TypeError):
        return []


def _archs(last: str, *, groups: bool) -> list[str]:
    """Archs of the project's toolchain; what is before the last comma stays."""
    try:
        told = _read(".fatcrate/toolchain.json")
        real = [name for name in told["llvm"]["archs"] if name in told["ptxas"]["archs"]]
        found = [*real, *(name.replace("sm_", "compute_") for name in real)]
    except (KeyError, TypeError):
        found = arch.usual()
    kept = last[: last.rfind(",") + 1]
    return [kept + name for name in [*found, *(["all", "all-major"] if groups else [])]]

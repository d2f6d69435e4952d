"""``fatcrate completion``: completion of the command line in bash, zsh and fish.

The scripts ask the command itself for candidates, so that they know every option, and the
targets of the project in the present folder.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import re

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

#: Commands whose arguments are targets of the project.
_OF_TARGETS = ("build", "check", "clippy", "fmt", "run", "stages")

#: A line of `--help` that describes options starts with two spaces and a dash.
_OPTIONS = re.compile(r"^ {2}(-.*)$", re.M)
_OPTION = re.compile(r"(?:^|, )(--?[A-Za-z][a-z-]*)")
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
        found = _of_command(words[0], words[-2], last)
    else:
        found = []
    return sorted({word for word in found if word.startswith(last)})


def _of_command(command: str, previous: str, last: str) -> list[str]:
    text = _help(command)
    choices = {option: listed.split(",") for option, listed in _CHOICES.findall(text)}
    if previous in choices:
        return list(choices[previous])
    if last.startswith("-"):
        return [option for line in _OPTIONS.findall(text) for option in _OPTION.findall(line)]
    if command == "completion":
        return [*SCRIPTS]
    return _targets() if command in _OF_TARGETS else []


def _help(command: str) -> str:
    """The text of a command's ``--help``."""
    from fatcrate.rules import cli

    module, function = cli.COMMANDS[command].entry.split(":")
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        getattr(importlib.import_module(module), function)(["--help"])
    return text.getvalue()


def _targets() -> list[str]:
    """Names of targets and crates of the project here, as the last build knew them."""
    try:
        with open("fatcrate-out/.fatcrate/state.json", encoding="utf-8") as stream:
            return [str(name) for name in json.load(stream)["names"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []

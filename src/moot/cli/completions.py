"""`moot completions bash|zsh|fish`: what Tab offers, made from the commands themselves."""

import argparse
import importlib
from argparse import ArgumentParser, Namespace

from moot.cli import exits

BASH = """\
# moot completions for bash: eval "$(moot completions bash)"
_moot() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words=""
  case "${{COMP_WORDS[1]}} ${{COMP_WORDS[2]}}" in
{cases}
  esac
  [ "$COMP_CWORD" -eq 1 ] && words="{commands}"
  COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
  [ "$COMP_CWORD" -eq 1 ] && COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o filenames -F _moot moot
"""
ZSH = """\
# moot completions for zsh: eval "$(moot completions zsh)"
autoload -U +X bashcompinit && bashcompinit
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="whose Tab")


def run(options: Namespace) -> int:
    offered = list_offered()
    if options.shell == "fish":
        print(write_fish(offered), end="")
    else:
        print((ZSH if options.shell == "zsh" else "") + write_bash(offered), end="")
    return exits.OK


def list_offered() -> dict[str, list[str]]:
    """`run` → its options; `sessions` → its actions; `sessions list` → the options of that one."""
    from moot.cli.main import COMMANDS  # only now: it imports this module by its name

    offered: dict[str, list[str]] = {}
    for command in COMMANDS:
        parser = ArgumentParser(prog=f"moot {command}")
        importlib.import_module(f"moot.cli.{command}").add_arguments(parser)
        offered |= _list_words(command, parser)
    return offered


def _list_words(name: str, parser: ArgumentParser) -> dict[str, list[str]]:
    words: list[str] = []
    below: dict[str, list[str]] = {}
    for action in parser._actions:  # argparse has no other way to ask
        words += [option for option in action.option_strings if option.startswith("--")]
        if isinstance(action, argparse._SubParsersAction):
            words += action.choices
            for each, subparser in action.choices.items():
                below |= _list_words(f"{name} {each}", subparser)
        elif action.choices:
            words += [str(choice) for choice in action.choices]
    return {name: words, **below}


def write_bash(offered: dict[str, list[str]]) -> str:
    """The longer name first: the first that fits counts."""
    names = sorted(offered, key=lambda name: -name.count(" "))
    cases = [f'    "{name}"{"" if " " in name else "*"}) words="{" ".join(offered[name])}" ;;' for name in names]
    commands = " ".join(name for name in offered if " " not in name)
    return BASH.format(cases="\n".join(cases), commands=commands)


def write_fish(offered: dict[str, list[str]]) -> str:
    from moot.cli.main import COMMANDS

    lines = ["# moot completions for fish: moot completions fish | source"]
    for name, line in COMMANDS.items():
        told = line.replace("'", "’")
        lines.append(f"complete -c moot -n __fish_use_subcommand -f -a {name} -d '{told}'")
    for name, words in offered.items():
        seen = " ".join(f"; and __fish_seen_subcommand_from {part}" for part in name.split()).removeprefix("; and ")
        for word in words:
            how = f"-l {word[2:]}" if word.startswith("--") else f"-a {word}"
            lines.append(f"complete -c moot -n '{seen}' {how}")
    return "\n".join(lines) + "\n"

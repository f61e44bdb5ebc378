"""`moot completions bash|zsh|fish`: completion scripts, made from the parsers of the commands."""

import importlib
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Iterator

from msgspec import Struct

from moot.cli import exits
from moot.cli.parser import list_actions, list_subparsers
from moot.cli.wording import say
from moot.config.loading import list_built_in_teams

SESSIONS, TEAMS, FILES, FOLDERS = "@sessions", "@teams", "@files", "@folders"

BASH = """\
# moot completions for bash: moot completions bash > ~/.local/share/bash-completion/completions/moot
_moot_sessions() {{ # of the folder that --data names, if one is typed
  local at data=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    [ "${{COMP_WORDS[at]}}" = --data ] && data=(--data "${{COMP_WORDS[at + 1]}}")
  done
  "${{COMP_WORDS[0]}}" sessions list "${{data[@]}}" 2>/dev/null | cut -d ' ' -f 1
}}
_moot_offer() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}"
  case "$1" in
    @sessions) COMPREPLY=($(compgen -W "$(_moot_sessions)" -- "$current")) ;;
    @teams) COMPREPLY=($(compgen -W "{teams}" -- "$current") $(compgen -f -X '!*.y*ml' -- "$current") \\
      $(compgen -d -- "$current")) ;;
    @files) COMPREPLY=($(compgen -f -- "$current")) ;;
    @folders) COMPREPLY=($(compgen -d -- "$current")) ;;
    *) COMPREPLY=($(compgen -W "$1" -- "$current")) ;;
  esac
}}
_moot() {{
  local name="${{COMP_WORDS[1]}}"
  [ "$COMP_CWORD" -eq 1 ] && {{ _moot_offer "{commands}"; return; }}
  [ "$COMP_CWORD" -gt 2 ] && case "$name ${{COMP_WORDS[2]}}" in
    {actions}) name="$name ${{COMP_WORDS[2]}}" ;;
  esac
  case "$name ${{COMP_WORDS[COMP_CWORD - 1]}}" in
{values}
  esac
  case "$name ${{COMP_WORDS[COMP_CWORD]}}" in
{options}
  esac
  case "$name" in
{arguments}
  esac
}}
complete -o filenames -F _moot moot
"""
ZSH = """\
# moot completions for zsh: moot completions zsh > ~/.moot-completion, then `source` it in .zshrc
autoload -U +X bashcompinit && bashcompinit
"""
FISH = {
    SESSIONS: "-x -a '(moot sessions list 2>/dev/null | string split --fields 1 \" \")'",
    TEAMS: "-x -a '{teams} (__fish_complete_suffix .yaml)'",
    FILES: "-r",
    FOLDERS: "-x -a '(__fish_complete_directories)'",
}


class Offer(Struct, frozen=True, kw_only=True):
    """The completions of a command. Values are words, or a name with @ for what the shell looks up."""

    name: str  # `run`, `sessions list`
    options: dict[str, str | None]  # with their values; None for a flag
    argument: str = ""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help=say("help.completions.shell"))


def run(options: Namespace) -> int:
    offers = list(list_offers())
    if options.shell == "fish":
        print(write_fish(offers), end="")
    else:
        print((ZSH if options.shell == "zsh" else "") + write_bash(offers), end="")
    return exits.OK


def list_offers() -> Iterator[Offer]:
    from moot.cli.main import COMMANDS  # only now: it imports this module by its name

    for command in COMMANDS:
        parser = ArgumentParser(prog=f"moot {command}")
        importlib.import_module(f"moot.cli.{command.replace('-', '_')}").add_arguments(parser)
        yield from _read(command, parser)


def _read(name: str, parser: ArgumentParser) -> Iterator[Offer]:
    options: dict[str, str | None] = {}
    argument = ""
    for action_name, subparser in list_subparsers(parser).items():
        yield from _read(f"{name} {action_name}", subparser)
    for action in list_actions(parser):
        if action.option_strings:
            options[action.option_strings[-1]] = _values(name, action) if action.nargs != 0 else None
        else:
            argument = argument or _values(name, action)
    yield Offer(name=name, options=options, argument=argument)


def _values(name: str, action: Action) -> str:
    """Return the possible values of an option or an argument; empty if they are not known."""
    if action.choices:
        return " ".join(str(choice) for choice in action.choices)
    is_of_sessions = name.startswith("sessions ")
    match action.metavar:
        case "ID" if is_of_sessions or action.dest == "session":
            return SESSIONS
        case "FILE":
            return FILES if is_of_sessions else TEAMS
        case "DIR":
            return FOLDERS
        case str(metavar) if metavar.startswith("[") and "|" in metavar:  # actions that are words: moot trust
            return metavar[1:].partition("]")[0].replace("|", " ")
    return ""


def write_bash(offers: list[Offer]) -> str:
    values = [
        f'    "{offer.name} {option}") _moot_offer "{value}"; return ;;'
        for offer in offers
        for option, value in offer.options.items()
        if value is not None
    ]
    return BASH.format(
        teams=" ".join(list_built_in_teams()),
        commands=" ".join(offer.name for offer in offers if " " not in offer.name),
        actions=" | ".join(f'"{offer.name}"' for offer in offers if " " in offer.name),
        values="\n".join(values),
        options="\n".join(
            f'    "{offer.name} -"*) _moot_offer "{" ".join(offer.options)}"; return ;;' for offer in offers
        ),
        arguments="\n".join(f'    "{offer.name}") _moot_offer "{offer.argument}" ;;' for offer in offers),
    )


def write_fish(offers: list[Offer]) -> str:
    from moot.cli.main import COMMANDS

    lines = ["# moot completions for fish: moot completions fish > ~/.config/fish/completions/moot.fish"]
    for name in COMMANDS:
        description = say(f"help.{name}").replace("'", "’")
        lines.append(f"complete -c moot -n __fish_use_subcommand -f -a {name} -d '{description}'")
    for offer in offers:
        condition = "; and ".join(f"__fish_seen_subcommand_from {part}" for part in offer.name.split())
        for option, value in offer.options.items():
            values = _fish(value) if value is not None else ""
            lines.append(f"complete -c moot -n '{condition}' -l {option[2:]} {values}")
        if offer.argument:
            lines.append(f"complete -c moot -n '{condition}' {_fish(offer.argument)}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _fish(value: str) -> str:
    return FISH.get(value, f"-x -a '{value}'").format(teams=" ".join(list_built_in_teams()))

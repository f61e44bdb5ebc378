"""Every command of `moot` with its options, from the parsers."""

import argparse
import re
from collections.abc import Iterator

from docs.tables import make_table
from moot.cli.main import COMMANDS, make_parser
from moot.cli.parser import list_actions, list_subparsers


def draw_options() -> str:
    parsers = {name: list_subparsers(make_parser(name))[name] for name in COMMANDS}
    return "\n".join(part for name, parser in parsers.items() for part in _draw(f"moot {name}", parser))


def _draw(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    inner = list_subparsers(parser)
    if inner:
        for each, described in inner.items():
            yield from _draw(f"{name} {each}", described)
        return
    usage = re.sub(r"\s+", " ", parser.format_usage().removeprefix("usage: ")).replace(" [-h]", "").strip()
    yield f"## {name}\n"
    line = parser.description or ""
    yield f"{line[:1].upper()}{line[1:]}\n"
    yield f"`{usage}`\n"
    taken = [(_name(action), _explain(action)) for action in list_actions(parser) if action.dest != "help"]
    if taken:
        yield make_table(("argument", "meaning"), taken)


def _name(action: argparse.Action) -> str:
    value = str(action.metavar or "|".join(map(str, action.choices or ())) or action.dest.upper())
    if action.option_strings:
        value = action.option_strings[0] + (f" {value}" if action.nargs != 0 else "")
    return f"`{value}`{' ✱' if action.required and action.option_strings else ''}"


def _explain(action: argparse.Action) -> str:
    return (action.help or "") % {**vars(action), "prog": "moot"}

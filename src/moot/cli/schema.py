"""`moot schema`: the JSON Schema of the team file."""

import json
from argparse import ArgumentParser, Namespace

from moot.cli import exits


def add_arguments(parser: ArgumentParser) -> None:
    """Add nothing: the command takes no arguments."""


def run(options: Namespace) -> int:  # noqa: ARG001 - every command is called alike
    from moot.config.team_schema import team_schema

    print(json.dumps(team_schema(), indent=2, ensure_ascii=False))
    return exits.OK

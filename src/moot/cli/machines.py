"""`moot machines`: every state machine, from its table."""

import json
from argparse import ArgumentParser, Namespace

from moot.cli import exits
from moot.cli.wording import say


def add_arguments(parser: ArgumentParser) -> None:
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help=say("help.machines.json"))
    form.add_argument("--mermaid", action="store_true", help=say("help.machines.mermaid"))


def run(options: Namespace) -> int:
    from moot.core.machines.catalogue import MACHINES, describe, to_mermaid

    if options.json:
        print(json.dumps([describe(machine) for machine in MACHINES], indent=2))
        return exits.OK
    for machine in MACHINES:
        if options.mermaid:
            print(f"%% {machine.name}\n{to_mermaid(machine)}\n")
            continue
        print(f"{machine.name}  (starts {machine.initial}, ends {', '.join(sorted(machine.final)) or 'never'})")
        for row in machine.rows:
            print(f"  {row.state:24} {row.trigger:32} → {row.target}{'  +' if row.extension else ''}")
        print()
    return exits.OK

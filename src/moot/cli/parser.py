"""Command lines that cannot be read are told like everything else: one sentence, and where to read more."""

import argparse
import math
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from moot.cli import exits

MAX_PORT = 65_535


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sentence = self._explain(message)
        more = f"{' See' if sentence.endswith('?') else '; see'} `{self.prog} --help`"
        print(f"moot: {sentence}{more}", file=sys.stderr)
        sys.exit(exits.USAGE)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Nothing that is not known passes, and the command that was given it says so, not `moot`."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            kind = "option" if unknown[0].startswith("-") else "argument"
            self._refuse(kind, unknown[0], [name for action in self._actions for name in action.option_strings])
        return options, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        if action.option_strings:
            self.error(f"{action.option_strings[0]} is one of {', '.join(choices)}, not {value!r}")
        self._refuse(_name(action).lower(), value, choices)

    def _refuse(self, kind: str, given: str, known: Sequence[str]) -> NoReturn:
        from moot.config.wording import shorten, suggest  # only now: most command lines are right

        subject = f"{self._command} has no" if self._command else "there is no"
        instead = "leave it out" if kind == "argument" else suggest(given, known, f"{kind}s")
        self.error(f"{subject} {kind} {shorten(given)}; {instead}")

    def _explain(self, message: str) -> str:
        """What argparse says, in our words."""
        needed = message.removeprefix("the following arguments are required: ")
        if needed == message:
            return message.removeprefix("argument ")
        for action in self._actions:
            if action.choices and needed == _name(action):
                needed = f"one of {', '.join(str(choice) for choice in action.choices)}"
        return f"{self._command} needs {needed}" if self._command else f"name {needed}"

    @property
    def _command(self) -> str:
        return self.prog.removeprefix("moot").strip()


def _name(action: argparse.Action) -> str:
    return str(action.metavar or action.dest)


def read_port(written: str) -> int:
    if not written.isdecimal() or int(written) > MAX_PORT:
        raise argparse.ArgumentTypeError(f"{written!r} is no port; use a number from 0 to {MAX_PORT}")
    return int(written)


def read_seq(written: str) -> int:
    try:
        return int(written)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{written!r} is no seq; use the number of an event, from 1") from None


def read_number(written: str) -> float:
    """Seconds or times: what cannot be negative."""
    try:
        number = float(written)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{written!r} is no number of 0 or more")
    return number

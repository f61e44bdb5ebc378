"""The argument parser: argparse, with errors as one sentence that says where to read more.

This is the only module that uses private parts of argparse, which has no public equivalent: `_actions`, to list what a
parser takes, and the hook `_check_value`, to word a wrong choice. Both are unchanged since Python 2.7.
"""

import argparse
import math
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from moot.cli import exits

MAX_PORT = 65_535
NAME_CHARS = 64

WORDS = {"help": "--help", "version": "--version"}  # what people type instead
# what people know from other programs, by the command where they type it
INSTEAD = {
    ("run", "--as"): "name who speaks in the text: --say 'ann: hello'",
    ("chat", "--lang"): "type /lang zh or /lang en in the session",
    ("chat", "--language"): "type /lang zh or /lang en in the session",
    ("sessions", "delete"): "did you mean 'rm'?",
    ("sessions", "remove"): "did you mean 'rm'?",
}
# the messages of argparse that are no sentences
REWORDED = (
    (r"(--\S+): expected .*argument", r"\1 needs a value"),
    (r"(--\S+): not allowed with argument (--\S+)", r"\1 does not go with \2"),
)


def list_actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """The options and arguments that a parser takes."""
    return parser._actions


def list_subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands or actions below a parser, by name."""
    inner = [action.choices for action in list_actions(parser) if isinstance(action.choices, dict)]
    return inner[0] if inner else {}


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sentence = self._explain(message)
        more = f"{' See' if sentence.endswith('?') else '; see'} `{self.prog} --help`"
        print(f"moot: {sentence}{more}", file=sys.stderr)
        sys.exit(exits.USAGE)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Refuse unknown arguments here, so that the error names the command and not only `moot`."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            kind = "option" if unknown[0].startswith("-") else "argument"
            known = [name for action in list_actions(self) for name in action.option_strings]
            self._refuse(kind, *unknown, known=known)
        return options, unknown

    def check_option(self, written: str) -> None:
        """Refuse an option that this parser does not have, before it asks for the command that is missing too."""
        known = [name for action in list_actions(self) for name in action.option_strings]
        if written.partition("=")[0] not in known:
            self._refuse("option", written, known=known)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        if action.option_strings:
            several = "one of " if len(choices) > 1 else ""
            self.error(f"{action.option_strings[0]} is {several}{', '.join(choices)}, not {value!r}")
        self._refuse(_name(action).lower(), value, known=[*choices, *([] if self._command else WORDS)])

    def _refuse(self, kind: str, *values: str, known: Sequence[str]) -> NoReturn:
        """Refuse the first of these values, which nothing here takes. Names what is near, or else what is known."""
        value = values[0]
        from moot.config.message_format import shorten, suggest  # here, because only wrong command lines need it

        subject = f"{self._command} has no" if self._command else "there is no"
        instead = INSTEAD.get((self._command, value)) or suggest(value, known, f"{kind}s")
        if kind == "argument":
            import shlex

            is_text = "--say" in known and not os.path.exists(value)
            text = shlex.quote(" ".join(values))
            instead = f"did you mean --say {text}?" if is_text else "leave it out"
        elif kind == "option" and not self._command and not instead.endswith("?"):
            instead = "options of a command stand behind its name"
        self.error(f"{subject} {kind} {shorten(value)}; {instead}")

    def _explain(self, message: str) -> str:
        """Return a message of argparse in the style of our own."""
        needed = message.removeprefix("the following arguments are required: ")
        if needed == message:
            exclusive = re.fullmatch(r"one of the arguments (.*) is required", message)
            if exclusive:
                return f"{self._command} needs one of {', '.join(exclusive[1].split())}"
            sentence = message.removeprefix("argument ")
            for pattern, replacement in REWORDED:
                sentence = re.sub(pattern, replacement, sentence)
            return sentence
        for action in list_actions(self):
            if action.choices and needed == _name(action):
                needed = f"one of {', '.join(str(choice) for choice in action.choices)}"
        return f"{self._command} needs {needed}" if self._command else f"name {needed}"

    @property
    def _command(self) -> str:
        return self.prog.removeprefix("moot").strip()


def _name(action: argparse.Action) -> str:
    return str(action.metavar or action.dest)


def read_port(text: str) -> int:
    if not text.isdecimal() or int(text) > MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; use a number from 0 to {MAX_PORT}")
    return int(text)


def read_seq(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no seq; use the number of an event, from 1") from None


def read_count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number, 1 or more")
    return int(text)


def read_name(text: str) -> str:
    """Check a name of a server: it is shown in lists."""
    if not text.strip() or not text.isprintable() or len(text) > NAME_CHARS:
        raise argparse.ArgumentTypeError(f"{text!r} must be one line of text, {NAME_CHARS} characters at most")
    return text


def read_number(text: str) -> float:
    """Parse a finite number that is not negative."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number, 0 or more")
    return number


def read_timeout(text: str) -> float:
    """Parse a number of seconds that leaves some time."""
    if (seconds := read_number(text)) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} leaves no time; use more than 0, or no --timeout to wait for ever")
    return seconds

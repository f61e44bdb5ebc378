"""The argument parser: argparse, with errors as one sentence that says where to read more.

This is the only module that uses private parts of argparse, which has no public equivalent: `_actions`, to list what a
parser takes, the titles of its two groups, and the hooks `_check_value`, to word a wrong choice, `_fill_text` and
`_split_lines`, to break lines of Chinese. All are unchanged since Python 2.7.
"""

import argparse
import math
import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn
from unicodedata import east_asian_width

from moot.cli import exits
from moot.cli.wording import say
from moot.config.user_locale import find_locale_language

MAX_PORT = 65_535
NAME_CHARS = 64

WORDS = {"help": "--help", "version": "--version"}  # what people type instead
# what people know from other programs, by the command where they type it, and the text that says how it is done here
INSTEAD = {
    ("run", "--as"): "speaker",
    ("chat", "--lang"): "lang",
    ("chat", "--language"): "lang",
    ("sessions", "delete"): "rm",
    ("sessions", "remove"): "rm",
}
# the messages of argparse that are no sentences, and ours
REWORDED = (
    (r"(?P<option>--\S+): expected .*argument", "needs"),
    (r"(?P<option>--\S+): not allowed with argument (?P<other>--\S+)", "not_with"),
)
# one wide character, or a word of others, with the marks that must not be parted from it
PIECES = re.compile(r"[“（]*(?:[\u2e80-\uffef]|[^\s\u2e80-\uffef]+)?[”、。！），：；？]*\s*")


def list_actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """The options and arguments that a parser takes."""
    return parser._actions


def list_subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands or actions below a parser, by name."""
    inner = [action.choices for action in list_actions(parser) if isinstance(action.choices, dict)]
    return inner[0] if inner else {}


class HelpPage(argparse.RawDescriptionHelpFormatter):
    """A page of help in the user's language: wide characters count as two columns."""

    def __init__(self, prog: str) -> None:
        usage = say("help.usage")
        beyond = count_columns(usage) - len(usage)  # argparse measures the line that it begins in characters
        super().__init__(prog, width=shutil.get_terminal_size().columns - 2 - beyond)

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[Any],
        prefix: str | None = None,
    ) -> None:
        super().add_usage(usage, actions, groups, say("help.usage") if prefix is None else prefix)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Break descriptions; examples are indented and stay lines that can be copied."""
        parts = [[line] if line.startswith(" ") else self._split_lines(line, width) for line in text.splitlines()]
        return "".join(f"{indent}{line}\n" for lines in parts for line in lines)

    def _split_lines(self, text: str, width: int) -> list[str]:
        lines, line = [], ""
        for piece in PIECES.findall(text):  # the last one is empty
            if line and count_columns(f"{line}{piece}".rstrip()) > width:
                lines.append(line.rstrip())
                line = ""
            line += piece
        return [*lines, line.rstrip()]


class Parser(argparse.ArgumentParser):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "add_help": False, "formatter_class": HelpPage})
        self._positionals.title, self._optionals.title = say("help.arguments"), say("help.options")
        self.add_argument("-h", "--help", action="help", default=argparse.SUPPRESS, help=say("help.help"))

    def error(self, message: str) -> NoReturn:
        sentence = self._explain(message)
        code = "usage.see_after_question" if sentence.endswith(("?", "？")) else "usage.see"
        print(f"moot: {say(code, sentence=sentence, command=self.prog)}", file=sys.stderr)
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
            code = "usage.is_one_of" if len(choices) > 1 else "usage.is"
            self.error(say(code, option=action.option_strings[0], choices=", ".join(choices), value=repr(value)))
        self._refuse(_name(action).lower(), value, known=[*choices, *([] if self._command else WORDS)])

    def _refuse(self, kind: str, *values: str, known: Sequence[str]) -> NoReturn:
        """Refuse the first of these values, which nothing here takes. Names what is near, or else what is known."""
        value = values[0]
        from moot.config.message_format import shorten, suggest  # here, because only wrong command lines need it
        from moot.config.phrase import tell

        is_near = False
        if code := INSTEAD.get((self._command, value)):
            instead = say(f"usage.instead.{code}")
        else:
            found = suggest(value, known, say(f"usage.kind.{kind}.other"))
            instead, is_near = tell(found, find_locale_language()), found.endswith("?")
        if kind == "argument":
            import shlex

            is_text = "--say" in known and not os.path.exists(value)
            instead = say("usage.say", text=shlex.quote(" ".join(values))) if is_text else say("usage.leave_out")
        elif kind == "option" and not self._command and not is_near:
            instead = say("usage.behind")
        subject = "usage.has_no" if self._command else "usage.there_is_no"
        name = say(f"usage.kind.{kind}", count=1)
        self.error(say(subject, command=self._command, kind=name, value=shorten(value), instead=instead))

    def _explain(self, message: str) -> str:
        """Return a message of argparse in the style of our own."""
        needed = message.removeprefix("the following arguments are required: ")
        if needed == message:
            exclusive = re.fullmatch(r"one of the arguments (.*) is required", message)
            if exclusive:
                return say("usage.needs_one", command=self._command, choices=", ".join(exclusive[1].split()))
            sentence = message.removeprefix("argument ")
            for pattern, code in REWORDED:
                if found := re.fullmatch(pattern, sentence):
                    return say(f"usage.{code}", **found.groupdict())
            return sentence
        choices = [action.choices for action in list_actions(self) if action.choices and needed == _name(action)]
        if choices:
            needed = say("usage.one_of", choices=", ".join(map(str, choices[0])))
        return (
            say("usage.command_needs", command=self._command, needed=needed)
            if self._command
            else say("usage.name", needed=needed)
        )

    @property
    def _command(self) -> str:
        return self.prog.removeprefix("moot").strip()


def _name(action: argparse.Action) -> str:
    return str(action.metavar or action.dest)


def count_columns(text: str) -> int:
    """How wide a terminal shows a text."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def refuse(code: str, text: str, **params: Any) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(say(f"usage.{code}", value=repr(text), **params))


def read_port(text: str) -> int:
    if not text.isdecimal() or int(text) > MAX_PORT:
        raise refuse("no_port", text, most=MAX_PORT)
    return int(text)


def read_seq(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise refuse("no_seq", text) from None


def read_count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise refuse("no_count", text)
    return int(text)


def read_name(text: str) -> str:
    """Check a name of a server: it is shown in lists."""
    if not text.strip() or not text.isprintable() or len(text) > NAME_CHARS:
        raise refuse("no_name", text, most=NAME_CHARS)
    return text


def read_number(text: str) -> float:
    """Parse a finite number that is not negative."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise refuse("no_number", text)
    return number


def read_timeout(text: str) -> float:
    """Parse a number of seconds that leaves some time."""
    if (seconds := read_number(text)) == 0:
        raise refuse("no_time", text)
    return seconds

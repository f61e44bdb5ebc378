"""The prompt of line mode, which is printed again after every line of output."""

import sys
from collections.abc import Iterable

from moot.core.facts import Fact
from moot.core.session.events import MessagePosted, SessionPaused
from moot.core.session.state import State
from moot.core.session.team import Member
from moot.core.view import View
from moot.tui.words import Words


class Prompt:
    """The prompt of a person. It prints nothing unless both input and output are a terminal."""

    def __init__(self, speaks_as: str | None) -> None:
        self.is_shown = sys.stdin.isatty() and sys.stdout.isatty()
        self._speaks_as = speaks_as
        self._is_open = False
        self._typed: list[str] = []

    def greet(self, view: View, *, is_scripted: bool) -> None:
        """Explain once how line mode works, and that no model answers if the AIs play a script."""
        if self.is_shown:
            if is_scripted:
                print(f"{view.team}: {Words(view.language)('scripted')}", file=sys.stderr, flush=True)
            code = "line.work" if view.is_steered else "line.chat"
            ais = sorted((member for member in view.members if not member.is_human), key=lambda member: member.order)
            name = ais[0].display_name if ais else ""
            print(Words(view.language)(code, name=name), file=sys.stderr, flush=True)

    def open(self, state: State) -> bool:
        """Print the prompt if it is not there. Return whether it was printed."""
        if not self.is_shown or self._is_open:
            return False
        print(f"{self._who(state).display_name}> ", end="", file=sys.stderr, flush=True)
        self._is_open = True
        return True

    def close(self) -> None:
        """End the line of the prompt, because other output follows."""
        if self._is_open:
            print(file=sys.stderr, flush=True)
            self._is_open = False

    def take(self) -> None:
        """Note that a line was typed, whose Enter has ended the line of the prompt."""
        self._is_open = False

    def expect(self, line: str) -> None:
        """Remember a typed line, which will come back as a message."""
        if self.is_shown and not line.startswith("/"):
            self._typed.append(line.strip())

    def lines(self, fact: Fact, lines: Iterable[str], state: State) -> list[str]:
        """Return the lines of a fact without what the person knows: their own line, and that it is their turn."""
        if isinstance(fact, MessagePosted) and fact.turn_id is None:
            text = (fact.raw or fact.text).strip()
            if text in self._typed:
                self._typed.remove(text)
                return []
        if self.is_shown and isinstance(fact, SessionPaused) and fact.waiting_for == self._who(state).id:
            return list(lines)[:-1]
        return list(lines)

    def _who(self, state: State) -> Member:
        """Return the human who is to type: the one of --as, else who is waited for, else the first."""
        waited_for = state.waiting_for if any(human.id == state.waiting_for for human in state.team.humans) else None
        named = state.team.find(self._speaks_as) if self._speaks_as else None
        return named or (state.team.member(waited_for) if waited_for else state.team.first_human)

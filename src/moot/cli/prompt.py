"""Where a person types in line mode: a prompt that comes back after every line that was printed meanwhile."""

import sys
from collections.abc import Iterable

from moot.core.events import Fact, MessagePosted, SessionPaused
from moot.core.state import State
from moot.core.team import Flow, Member
from moot.tui.words import Words


class Prompt:
    """Says nothing unless somebody types at a terminal and reads there what comes."""

    def __init__(self, speaks_as: str | None) -> None:
        self.is_shown = sys.stdin.isatty() and sys.stdout.isatty()
        self._speaks_as = speaks_as
        self._is_open = False
        self._typed: list[str] = []

    def greet(self, state: State) -> None:
        """How this works, once."""
        if self.is_shown:
            code = "line.chat" if state.team.flow is Flow.CHAT else "line.work"
            name = state.team.ais[0].display_name if state.team.ais else ""
            print(Words(state.language)(code, name=name), file=sys.stderr, flush=True)

    def open(self, state: State) -> None:
        if self.is_shown and not self._is_open:
            print(f"{self._who(state).display_name}> ", end="", file=sys.stderr, flush=True)
            self._is_open = True

    def close(self) -> None:
        """Something is printed next: on a line of its own."""
        if self._is_open:
            print(file=sys.stderr, flush=True)
            self._is_open = False

    def take(self) -> None:
        """A line was typed: the Enter at its end stands on the screen too."""
        self._is_open = False

    def expect(self, line: str) -> None:
        """What was typed comes back as a message."""
        if self.is_shown and not line.startswith("/"):
            self._typed.append(line.strip())

    def lines(self, fact: Fact, lines: Iterable[str], state: State) -> list[str]:
        """Without what the person sees already: what they typed, and that they are waited for."""
        if isinstance(fact, MessagePosted) and fact.turn_id is None:
            said = (fact.raw or fact.text).strip()
            if said in self._typed:
                self._typed.remove(said)
                return []
        if self.is_shown and isinstance(fact, SessionPaused) and fact.waiting_for == self._who(state).id:
            return list(lines)[:-1]
        return list(lines)

    def _who(self, state: State) -> Member:
        """Who speaks next, as far as this is known."""
        waited_for = state.waiting_for if any(each.id == state.waiting_for for each in state.team.humans) else None
        named = state.team.find(self._speaks_as) if self._speaks_as else None
        return named or (state.team.member(waited_for) if waited_for else state.team.first_human)

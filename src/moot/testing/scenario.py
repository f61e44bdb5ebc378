"""Given / when / then for the pure core: no event loop, no log, no agents.

given(team).when(Post(text="[NEXT: bob] hi")).then("message.posted", "routing.decided", …)
"""

from typing import Self

from moot.config.team_file import TeamFile
from moot.core.decide import create, decide
from moot.core.errors import Refused
from moot.core.facts import Fact
from moot.core.flows.registry import show
from moot.core.session.commands import Command, CompleteTurn, CreateSession, FailTurn, Post
from moot.core.session.events import NoticePosted
from moot.core.session.notices import explain
from moot.core.session.state import State
from moot.core.session.team import Team

AT = "2026-01-01T00:00:00.000Z"


class Scenario:
    """A session. `facts`: all its facts; `new`: those of the last command; `refusal`: why it was refused, if it was."""

    def __init__(self, team: Team) -> None:
        created = create(CreateSession(team=team))
        self.state: State = created.state
        self.facts: list[Fact] = list(created.facts)
        self.new: list[Fact] = list(created.facts)
        self.refusal: Refused | None = None

    def when(self, *commands: Command, at: str = AT, chance: float = 1.0) -> Self:
        """Decide commands one after the other. `chance` is the random number for jitter, 0 to 1."""
        for command in commands:
            self.new, self.refusal = [], None
            try:
                decided = decide(self.state, command, at, chance)
            except Refused as refusal:
                self.refusal = refusal
                continue
            self.state, self.new = decided.state, decided.facts
            self.facts += decided.facts
        return self

    def says(self, text: str, by: str | None = None) -> Self:
        """A human posts a text."""
        return self.when(Post(text=text, by=by))

    def replies(self, text: str) -> Self:
        """The AI whose turn it is finishes with a text."""
        return self.when(CompleteTurn(turn_id=self.state.running[0].turn_id, text=text))

    def fails(self, error_type: str = "agent", message: str = "boom") -> Self:
        """The AI whose turn it is fails."""
        return self.when(FailTurn(turn_id=self.state.running[0].turn_id, error_type=error_type, message=message))

    def then(self, *names: str) -> Self:
        """Assert that the last command added exactly these events."""
        assert self.refusal is None, f"refused: {self.refusal_text}"  # noqa: S101
        added = [fact.event for fact in self.new]
        assert added == list(names), f"expected {list(names)}, got {added}"  # noqa: S101
        return self

    def refused(self, code: str) -> Self:
        """Assert that the last command was refused with this code."""
        assert self.refusal is not None, f"accepted: {[fact.event for fact in self.new]}"  # noqa: S101
        assert self.refusal.code == code, f"refused with {self.refusal.code}, not {code}"  # noqa: S101
        return self

    @property
    def refusal_text(self) -> str:
        return explain(self.refusal, self.state.language) if self.refusal else ""

    @property
    def queue(self) -> list[str]:
        return list(self.state.slice.queue[1])

    @property
    def notices(self) -> list[str]:
        """The notices of the last command, in the session's language."""
        return [show(fact, self.state.language) or "" for fact in self.new if isinstance(fact, NoticePosted)]


def given(team: Team | TeamFile) -> Scenario:
    """Start a session with this team."""
    return Scenario(team.team() if isinstance(team, TeamFile) else team)

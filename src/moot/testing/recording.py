"""Recorded sessions: what was said and what happened, for tests to look at."""

from collections.abc import Mapping
from functools import reduce
from os import PathLike
from typing import TypeVar

from msgspec import Struct

from moot.agents.python import AgentFunction
from moot.app import open_app
from moot.config.loading import TeamTarget
from moot.config.team_file import TeamFile
from moot.core.codec import Event
from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.flows.registry import find_flow
from moot.core.session.state import State
from moot.core.view import View, project
from moot.protocol.exported import read_events
from moot.runtime.ports import Agent, Clock

F = TypeVar("F", bound=Fact)


class Recording(Struct, frozen=True):
    """The events of a session, from its first one on."""

    events: tuple[Event, ...]

    @property
    def names(self) -> list[str]:
        """The names of the events."""
        return [event.name for event in self.events]

    @property
    def state(self) -> State:
        """What the events fold to; it may change in any version, so prefer the view."""
        first, *rest = self.events
        return reduce(lambda state, event: evolve(state, event.fact), rest, evolve(None, first.fact))

    @property
    def view(self) -> View:
        """The session as every interface shows it, after the last event."""
        return project(self.state)

    def said(self, member: str | None = None) -> list[str]:
        """What everybody said, or what this member said."""
        tell = find_flow(self.view.flow).lines.messages
        messages = [tell[type(event.fact)](event.fact) for event in self.events if type(event.fact) in tell]
        return [message.text.strip() for message in messages if member in (None, message.member)]

    def find(self, kind: type[F]) -> list[F]:
        """The facts of one kind of event, such as `moot.events.TurnFailed`."""
        return [event.fact for event in self.events if isinstance(event.fact, kind)]


async def record(
    team: TeamTarget | TeamFile,
    *texts: str,
    agents: Mapping[str, AgentFunction | Agent] | None = None,
    clock: Clock | None = None,
) -> Recording:
    """Say these texts to a new session in memory, each when the floor is back with a human, and record it.

    An open question takes what is said next, as it does on every screen: a plan is approved by the text `approve`.
    """
    async with open_app(team, agents=agents, clock=clock) as app:
        session = await app.session()
        for text in texts:
            async for _ in session.say(text):
                pass
        return Recording(tuple([event async for event in session.history()]))


def read_recording(path: str | PathLike[str]) -> Recording:
    """Read what `moot sessions export` wrote as JSON Lines. Raises Corrupt if it is not that, or was changed."""
    with open(path, "rb") as file:
        return Recording(tuple(read_events(file)))

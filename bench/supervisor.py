"""Supervisor rounds: a supervisor decides in JSON, the agent acts and writes into the shared state, and hands back."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from itertools import pairwise
from pathlib import Path

from moot.app import App, open_app
from moot.config.team_file import TeamFile
from moot.core.flows.supervisor.supervisor_settings import SupervisedAgent, SupervisorSettings
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import Post
from moot.runtime.ports import Output, Result
from moot.testing import human, scripted

DECISION = """The notes are there; now the text.
{"next_agent": "%s", "guidance": "Write what the notes say, in plain words.", "context_from_previous": "Three notes.",
 "focus_areas": ["opening", "length"]}"""
TEAM = TeamFile(
    moot=1,
    name="bench-desk",
    flow="supervisor",
    language="en",
    members=(human("alice"), scripted("lead"), scripted("writer"), scripted("noter")),
    supervisor=SupervisorSettings(
        member="lead",
        max_steps=1_000_000,
        agents={"writer": SupervisedAgent(writes=("text",)), "noter": SupervisedAgent(writes=("notes",))},
    ),
)


class Desk:
    """Plays all three: `rounds` decisions, each followed by a turn of the agent that was chosen."""

    def __init__(self, rounds: int, now: Callable[[], float] = time.perf_counter) -> None:
        self.rounds = rounds
        self._now = now
        self.moments: list[float] = []  # when each round began
        self._done = asyncio.Event()

    async def play(self, app: App) -> list[float]:
        session = await app.session()
        await session.submit(Post(text="a text, please"))
        await self._done.wait()
        return self.moments

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        if turn.job == "supervise":
            self.moments.append(self._now())
            if len(self.moments) > self.rounds:
                self._done.set()
                await asyncio.Event().wait()
            yield Result(text=DECISION % ("writer" if len(self.moments) % 2 else "noter"))
        elif turn.member.id == "writer":
            yield Result(text="Written.", state={"text": {"title": "Tea", "body": "Tea is made of leaves and water."}})
        else:
            yield Result(text="Noted.", state={"notes": ["leaves", "water", "five minutes"]})


async def rounds(count: int, data: Path | None, now: Callable[[], float] = time.perf_counter) -> list[float]:
    """Seconds of each round."""
    desk = Desk(count, now)
    async with open_app(TEAM, agents=dict.fromkeys(("lead", "writer", "noter"), desk), data=data) as app:
        moments = await desk.play(app)
    return [after - before for before, after in pairwise(moments)]


async def stored_round(data: Path) -> list[list[bytes]]:
    """The bytes of one round's appends, for a floor that writes the same: the decision, then what the agent did."""
    desk = Desk(4)
    async with open_app(TEAM, agents=dict.fromkeys(("lead", "writer", "noter"), desk), data=data) as app:
        await desk.play(app)
        [listing] = await app.log.sessions()
        events = await app.log.read(listing.session_id)
    ends = [at for at, event in enumerate(events) if event.name == "turn.completed"]
    return [[event.data for event in events[ends[at] : ends[at + 1]]] for at in (0, 1)]

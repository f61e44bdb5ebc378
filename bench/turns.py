"""Routed chat turns: two instant agents pass the floor to and fro; everything is typed, hashed and logged."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from itertools import pairwise
from pathlib import Path
from statistics import median

from moot.app import App, open_app
from moot.core.flows.chat.chat_settings import ChatSettings
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import Post
from moot.runtime.ports import Output, Result, Store
from moot.testing import human, make_team, scripted

SAID = "A message of ordinary length, as agents write them: it says what was done and what is left. [NEXT: {next}]"
TEAM = make_team(human("alice"), scripted("bob"), scripted("carol"), chat=ChatSettings(max_hops=0))


class PingPong:
    """Plays both members: they name each other `turns` times. `moments` says when each turn of a session began."""

    def __init__(self, turns: int, now: Callable[[], float] = time.perf_counter) -> None:
        self.turns = turns
        self._now = now
        self.moments: dict[str, list[float]] = {}
        self._done: dict[str, asyncio.Event] = {}

    async def play(self, app: App) -> list[float]:
        """One session from the human's message to the last turn."""
        session = await app.session()
        moments = self.moments[session.id] = []
        done = self._done[session.id] = asyncio.Event()
        await session.submit(Post(text="[NEXT: bob] go"))
        await done.wait()
        return moments

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        moments = self.moments[turn.session_id]
        moments.append(self._now())
        if len(moments) < self.turns:
            yield Result(text=SAID.format(next="carol" if turn.member.id == "bob" else "bob"))
        else:
            self._done[turn.session_id].set()


async def one_session(
    turns: int, data: Path | None, now: Callable[[], float] = time.perf_counter, store: Store | None = None
) -> list[float]:
    """Seconds of each turn but the first."""
    game = PingPong(turns, now)
    async with open_app(TEAM, agents={"bob": game, "carol": game}, data=data, store=store) as app:
        moments = await game.play(app)
    return [after - before for before, after in pairwise(moments)]


async def many_sessions(sessions: int, turns: int, data: Path) -> float:
    """Turns per second of all sessions together."""
    game = PingPong(turns)
    async with open_app(TEAM, agents={"bob": game, "carol": game}, data=data) as app:
        start = time.perf_counter()
        await asyncio.gather(*(game.play(app) for _ in range(sessions)))
        return sessions * turns / (time.perf_counter() - start)


async def stored_turn(data: Path) -> list[bytes]:
    """The bytes that one turn stores, for a floor that writes the same."""
    game = PingPong(4)
    async with open_app(TEAM, agents={"bob": game, "carol": game}, data=data) as app:
        await game.play(app)
        [listing] = await app.log.sessions()
        events = await app.log.read(listing.session_id)
    ends = [at for at, event in enumerate(events) if event.name == "turn.completed"]
    return [event.data for event in events[ends[0] : ends[1]]]


def growth(durations: list[float], window: int) -> float:
    """What a turn costs at the end, as a multiple of what it costs at the hundredth."""
    return median(durations[-window:]) / median(durations[100 : 100 + window])

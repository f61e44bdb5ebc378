"""Nodes of a cluster within the process of a test: each has its own connections, and a proxy that can cut them."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from moot.app import App, Session
from moot.config.team_file import TeamFile
from moot.core.codec import chain
from moot.core.errors import LogError
from moot.core.session.events import TurnCompleted, TurnFailed, TurnStarted
from moot.runtime.clock import SystemClock
from moot.runtime.ports import Agent
from moot.runtime.stores.postgres.nodes import Pace
from moot.runtime.stores.postgres.postgres_log import PgLog
from moot.runtime.stores.postgres.store import read_address
from moot.testing import human, make_team, scripted
from tests.contract.logs import closing
from tests.postgres.proxy import Proxy, proxied
from tests.runtime.apps import open_on, read

PAIR = make_team(human("alice"), scripted("bob", "done"))
QUICK = Pace(beat_s=0.1, suspect_s=0.3, lease_s=2.0)


class ClusterNode:
    """An app on a log of its own."""

    def __init__(self, app: App, log: PgLog, proxy: Proxy) -> None:
        self.app = app
        self.log = log
        self.proxy = proxy

    async def open(self, session: Session) -> Session:
        return await self.app.session(session.id)

    def owns(self, session: Session) -> bool:
        return any(
            session_id == session.id and self.app.sessions._engines[session_id].is_acting
            for session_id, _ in self.app.sessions.list_open()
        )


@asynccontextmanager
async def node(
    url: str,
    name: str,
    agents: Mapping[str, Agent] | None = None,
    team: TeamFile = PAIR,
    pace: Pace = QUICK,
    *,
    acts: bool = True,
) -> AsyncIterator[ClusterNode]:
    async with proxied(url) as proxy:
        address = read_address(proxy.url)
        async with closing(await PgLog.open(address, address, name, pace)) as log:
            clock = SystemClock()
            clock.offset = lambda: log.cluster.offset_s
            async with open_on(log, team, clock=clock, agents=agents) as app:  # type: ignore[arg-type]
                await app.join(acts=acts)
                yield ClusterNode(app, log, proxy)


async def check_history(app: App, session: Session) -> None:
    """The chain holds, and every turn that began ended at most once."""
    events = await read(app, session)
    previous = ""
    for event in events:
        previous = chain(previous, event.data)
        assert event.hash == previous
    started = [event.fact.turn_id for event in events if isinstance(event.fact, TurnStarted)]
    ended = [event.fact.turn_id for event in events if isinstance(event.fact, TurnCompleted | TurnFailed)]
    assert len(set(started)) == len(started)
    assert len(set(ended)) == len(ended)
    assert set(ended) <= set(started)


def ignoring_log_errors(condition: Callable[[], object]) -> Callable[[], bool]:
    def is_so() -> bool:
        try:
            return bool(condition())
        except LogError:
            return False

    return is_so

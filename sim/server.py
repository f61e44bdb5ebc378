"""One life of the server process: the real app, engines and connections on the simulated disk, network and clock."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any, cast

from moot.agents.roster import Roster
from moot.app import App, build
from moot.config.team_file import TeamFile
from moot.core.session.principal import Principal, Role
from moot.core.session.team import Kind
from moot.gateway.auth import Tokens
from moot.gateway.bounds import Bounds
from moot.gateway.connection import Connection, ServerContext, TooManyMessages
from moot.gateway.feeds import Feeds
from moot.gateway.metrics import Metrics
from moot.gateway.settings import GatewaySettings
from moot.protocol.frames import unlogged
from moot.runtime.dispatch import EmbeddedDispatch
from moot.runtime.files import Files
from sim.clock import SimClock
from sim.disk import Disk, DiskLog
from sim.faults import Faults
from sim.loop import SimLoop, Timeline
from sim.members import SimAgent, SimUnderstander, make_tool
from sim.network import Gone, Link

RATE_CLOSED = 4429
METRICS = Metrics()
SETTINGS = GatewaySettings(messages_per_s=50.0, message_burst=100, window_events=50)


class Server:
    """From its start to `loop.crash()`, or to the end of `stop`."""

    def __init__(
        self, timeline: Timeline, disk: Disk, faults: Faults, teams: Sequence[TeamFile], order: random.Random | None
    ) -> None:
        self.loop = SimLoop(timeline, order)  # type: ignore[abstract]  # of asyncio's sockets nothing is needed
        self.clock = SimClock(self.loop)
        self.links: list[Link] = []
        self.log: DiskLog = self.loop.call(DiskLog, disk, faults)
        self.app: App | None = None
        self._faults = faults
        self._teams = teams
        self._stop = asyncio.Event()
        self._life: asyncio.Task[None] = self.loop.call(self.loop.create_task, self._live())

    @property
    def is_up(self) -> bool:
        return self.app is not None and not self._stop.is_set()

    @property
    def is_over(self) -> bool:
        return self._life.done()

    def stop(self) -> None:
        """End in good order, as after SIGTERM."""
        self.loop.call(self._stop.set)

    def check_life(self) -> None:
        """Raise what the process has died of, if it was not killed."""
        if self._life.done() and self._life.exception() is not None:
            raise AssertionError("the server died by itself") from self._life.exception()
        if self.loop.errors:
            raise AssertionError(f"an error that nobody handled: {self.loop.errors[0]}")

    async def _live(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            members = [member for team in self._teams for member in team.members if member.kind is Kind.AI]
            agent, tool = SimAgent(self._faults), make_tool(self._faults)
            roster = Roster(self._teams, {member.id: agent for member in members}, self.clock)
            dispatch = EmbeddedDispatch(tasks, roster.find, 3, lambda *_: tool, files=Files(self.log))
            understander = SimUnderstander(self._faults)
            app = build(tasks, self._teams, self.log, self.clock, dispatch, lambda _: understander)
            await app.recover()
            feeds = Feeds(self.log, tasks.create_task, SETTINGS.window_events, self.clock.now)
            tokens = cast("Tokens", None)  # signs exported states, which no client here asks for
            bounds = Bounds(SETTINGS, self.clock)
            self._context = ServerContext(app, feeds, tokens, METRICS, SETTINGS, self.clock, bounds)
            self._tasks = tasks
            heart = tasks.create_task(self._beat())
            self.app = app
            await self._stop.wait()
            heart.cancel()
            for link in self.links:
                link.cut(1012)
            feeds.close()
            await app.sessions.close()

    def accept(self, link: Link, speaks_for: str | None, *, takes_batches: bool, wants_views: bool) -> None:
        """A client has connected."""
        link.run_in_server = self.loop.call
        link.inbox, link.writable = asyncio.Queue(), asyncio.Event()
        self.links = [each for each in self.links if each.is_open]
        self.links.append(link)
        role = Role.OWNER if speaks_for is None else Role.MEMBER
        principal = Principal(token_id=speaks_for or "owner", role=role, member=speaks_for)
        serving = self._serve(link, principal, takes_batches=takes_batches, wants_views=wants_views)
        self.loop.call(self._tasks.create_task, serving)

    async def _serve(self, link: Link, principal: Principal, *, takes_batches: bool, wants_views: bool) -> None:
        connection = Connection(
            self._context,
            principal,
            link.try_write,
            link.deliver,
            language=None,
            takes_batches=takes_batches,
            wants_views=wants_views,
        )
        link.beat = lambda: connection.outbox.answer(unlogged("system.heartbeat", self.clock.now()))
        connection.greet()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_read(connection, link))
                tasks.create_task(connection.outbox.run())
        except* Gone:
            link.cut()
        except* TooManyMessages:
            link.cut(RATE_CLOSED)
        finally:
            connection.leave()

    async def _beat(self) -> None:
        while True:
            await self.clock.sleep(SETTINGS.heartbeat_s)
            for link in self.links:
                if link.is_open:
                    link.beat()


async def _read(connection: Connection, link: Link) -> Any:
    inbox = link.inbox
    assert inbox is not None
    while True:
        text = await inbox.get()
        if text is None:
            raise Gone
        await connection.receive(text)

"""Servers and workers within the process of a test, with real sockets between them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from moot.app import App, open_app
from moot.client.address import read_address
from moot.config.team_file import TeamFile
from moot.core.session.principal import Role
from moot.gateway.auth import TOKENS_FILE, Tokens
from moot.gateway.serving import bind, build_server
from moot.gateway.settings import GatewaySettings
from moot.gateway.token_file import TokenFile
from moot.runtime.clock import SystemClock
from moot.runtime.ports import Agent
from moot.runtime.stores.postgres.nodes import Pace
from moot.runtime.stores.postgres.postgres_log import PgLog
from moot.runtime.stores.postgres.store import read_address as read_store_address
from moot.testing import human, make_team, scripted
from moot.worker.worker_link import RemoteFiles, WorkerLink, WorkerSettings
from tests.contract.logs import closing
from tests.gateway.sites import OWNER
from tests.postgres.proxy import Proxy, proxied

POOL = "far"
FAR_PAIR = make_team(human("alice"), replace(scripted("bob", "done"), runs_on=POOL))
PATIENT = Pace(beat_s=0.1, suspect_s=0.3, lease_s=60.0, worker_lease_s=60.0)  # on a busy machine, too


def make_token(data: Path, *pools: str) -> str:
    token, _ = TokenFile(data / TOKENS_FILE).create(Role.WORKER, SystemClock().now(), pools=pools)
    return token


class ServedNode:
    """A server that workers connect to, through `front`. `proxy` is between it and the database, if it has one."""

    def __init__(self, app: App, front: Proxy, proxy: Proxy | None) -> None:
        self.app = app
        self.front = front
        self.url = front.url
        self.proxy = proxy

    def owns(self, session_id: str) -> bool:
        engine = self.app.sessions._engines.get(session_id)
        return engine is not None and engine.is_acting


@asynccontextmanager
async def served(
    data: Path,
    team: TeamFile,
    pg_url: str = "",
    name: str = "a",
    pace: Pace = PATIENT,
    *,
    direct_url: str = "",
    **options: Any,
) -> AsyncIterator[ServedNode]:
    """A server on PostgreSQL, or on a log in memory. Servers with the same folder have the same tokens.

    Its heartbeat goes to `direct_url` if that is given, else the way of all else.
    """
    if not pg_url:
        async with open_app(team, **options) as app, _serving(app, data) as front:
            yield ServedNode(app, front, None)
        return
    async with proxied(pg_url) as proxy:
        address, direct = read_store_address(proxy.url), read_store_address(direct_url or proxy.url)
        async with (
            closing(await PgLog.open(address, direct, name, pace)) as log,
            open_app(team, store=log, **options) as app,
            _serving(app, data) as front,
        ):
            yield ServedNode(app, front, proxy)


@asynccontextmanager
async def _serving(app: App, data: Path) -> AsyncIterator[Proxy]:
    with bind("127.0.0.1", 0) as bound:
        port = bound.getsockname()[1]
        async with proxied(f"http://127.0.0.1:{port}") as front:
            name = front.url.removeprefix("http://")
            settings, tokens = GatewaySettings(port=port), Tokens(data, owner_token=OWNER)
            server = build_server(app, tokens, settings, names=[name])
            stop, started = asyncio.Event(), asyncio.Event()
            serving = asyncio.create_task(server.serve([bound], stop, started.set))
            try:
                await started.wait()
                yield front
            finally:
                stop.set()
                await serving


@asynccontextmanager
async def working(
    team: TeamFile,
    token: str,
    *urls: str,
    agents: Mapping[str, Agent] | None = None,
    name: str = "w",
    at_once: int = 2,
    is_kept: bool = False,
) -> AsyncIterator[WorkerLink]:
    """A worker; at the end of the block it says goodbye, or, with `is_kept`, is gone as by kill -9."""
    files: Any = RemoteFiles()
    async with open_app(team, store=files, agents=agents, plays=(POOL,)) as app:
        settings = WorkerSettings(id=name, name=name, pools=(POOL,), teams=(team.name,), at_once=at_once)
        addresses = [read_address(url, token) for url in urls]
        files.link = link = WorkerLink(addresses, settings, app.sessions.dispatch)
        stop = asyncio.Event()
        running = asyncio.create_task(link.run(stop))
        try:
            welcome = asyncio.create_task(link.is_welcome.wait())
            await asyncio.wait([running, welcome], return_when=asyncio.FIRST_COMPLETED)
            welcome.cancel()
            if running.done():
                running.result()
            yield link
        finally:
            if is_kept:
                running.cancel()
            stop.set()
            await asyncio.gather(running, return_exceptions=True)

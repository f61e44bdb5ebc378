"""The HTTP side with everything real but the WebSocket endpoint: in memory, or on a free port of this machine."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from starlette.types import Receive, Scope, Send

from moot.agents.python import AgentFunction
from moot.app import App, open_app
from moot.config.team_file import TeamFile
from moot.core.session.principal import Principal, Role
from moot.gateway.auth import TOKENS_FILE, Tokens
from moot.gateway.serving import bind, build_server
from moot.gateway.settings import GatewaySettings
from moot.gateway.token_file import TokenFile
from moot.runtime.clock import SystemClock
from moot.runtime.ports import Agent
from moot.testing import VirtualClock, human, make_team, scripted

OWNER = "owner-token-of-the-tests"
DUO = make_team(human("alice"), human("eve"), scripted("bob", "hello back"), name="duo")
SOLO = make_team(human("alice"), scripted("bob", "hello back"), name="solo")
PAST, FUTURE = "2000-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z"


class StandIn:
    """In place of the WebSocket endpoint: greets, echoes, remembers what it was told."""

    def __init__(self) -> None:
        self.closed_tokens: list[str] = []
        self.closed_logins: list[str] = []
        self.scopes: list[Scope] = []
        self.is_closed = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": message.get("text") or "bytes"})

    async def close(self) -> None:
        self.is_closed = True

    def close_token(self, token_id: str) -> None:
        self.closed_tokens.append(token_id)

    def close_login(self, login_id: str) -> None:
        self.closed_logins.append(login_id)

    def open_logins(self) -> set[str]:
        return set()

    def count(self) -> int:
        return 0


class Site:
    def __init__(
        self, app: App, tokens: Tokens, settings: GatewaySettings, data: Path, *, has_sockets: bool = False
    ) -> None:
        self.app = app
        self.tokens = tokens
        self.settings = settings
        self.sockets = StandIn()
        self.server = build_server(
            app, tokens, settings, names=["moot.example"], sockets=None if has_sockets else self.sockets
        )
        self.metrics, self.gateway = self.server.metrics, self.server.gateway
        self.bounds = self.gateway._bounds
        self.host = f"127.0.0.1:{settings.port}"
        self.url = f"http://{self.host}"
        self.token_file = TokenFile(data / TOKENS_FILE)
        self.is_real = False

    def client(self, token: str | None = OWNER, **headers: str) -> httpx.AsyncClient:
        transport = None if self.is_real else httpx.ASGITransport(self.gateway)
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        return httpx.AsyncClient(base_url=self.url, headers=headers, transport=transport, trust_env=False)

    def principal(self, token: str) -> Principal:
        principal = self.tokens.find(token)
        assert principal
        return principal

    def issue(self, role: Role, expires_at: str | None = None, **who: Any) -> tuple[str, str]:
        """A new token and its id."""
        token, record = self.token_file.create(role, SystemClock().now(), expires_at=expires_at, **who)
        return token, record.token_id

    async def create(self, team: str | None = None, **fields: Any) -> str:
        async with self.client() as client:
            answer = await client.post("/api/sessions", json={"team": team, **fields})
        assert answer.status_code == 201, answer.text
        session_id: str = answer.json()["session_id"]
        return session_id

    async def command(
        self, session_id: str, event: str, *, token: str = OWNER, lang: str = "en", **fields: Any
    ) -> httpx.Response:
        async with self.client(token) as client:
            return await client.post(
                f"/api/sessions/{session_id}/commands", params={"lang": lang}, json={"event": event, **fields}
            )


@asynccontextmanager
async def open_site(
    data: Path,
    *teams: TeamFile,
    agents: Mapping[str, AgentFunction | Agent] | None = None,
    clock: VirtualClock | None = None,
    port: int = 8765,
    has_sockets: bool = False,
    folders: Mapping[str, Path] | None = None,
    **settings: Any,
) -> AsyncIterator[Site]:
    """Requests go straight into the application. `has_sockets`: the WebSocket endpoint is the real one."""
    rooms: dict[str, Any] = {"folders": folders, "trees": data / "trees"} if folders else {}
    async with open_app(*(teams or (DUO, SOLO)), data=data, agents=agents, clock=clock, **rooms) as app:
        yield Site(
            app, Tokens(data, owner_token=OWNER), GatewaySettings(port=port, **settings), data, has_sockets=has_sockets
        )


@asynccontextmanager
async def serve_site(data: Path, *teams: TeamFile, **options: Any) -> AsyncIterator[Site]:
    """As `moot serve` runs it, until the block ends. A test that fails stops it in order: cancelled, it would hang."""
    failure: Exception | None = None
    with bind("127.0.0.1", 0) as bound:
        async with open_site(data, *teams, port=bound.getsockname()[1], **options) as site:
            site.is_real = True
            stop, started = asyncio.Event(), asyncio.Event()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(site.server.serve([bound], stop, started.set))
                await started.wait()
                try:
                    yield site
                except Exception as error:
                    failure = error
                finally:
                    stop.set()
    if failure:
        raise failure


async def events(site: Site, session_id: str, **query: Any) -> list[Any]:
    async with site.client() as client:
        answer = await client.get(f"/api/sessions/{session_id}/events", params=query)
    assert answer.status_code == 200, answer.text
    frames: list[Any] = answer.json()
    return frames


async def come_true(condition: Callable[[], bool], deadline_s: float = 5.0) -> None:
    """Look again and again, but leave the server room to breathe in between."""
    async with asyncio.timeout(deadline_s):
        while not condition():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.005)


def code_of(answer: httpx.Response) -> str:
    """The code of an error frame."""
    code: str = answer.json()["metadata"]["code"]
    return code


def count(site: Site, name: str) -> float:
    """A sample of the Prometheus text, by its name with labels."""
    lines = [line for line in site.metrics.render().decode().splitlines() if line.startswith(f"{name} ")]
    return float(lines[0].rpartition(" ")[2]) if lines else 0.0

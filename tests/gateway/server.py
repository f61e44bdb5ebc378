"""A real server on a free port of this machine, clients to it, and what they check."""

import asyncio
import functools
import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ParamSpec

import uvicorn
import uvloop
import websockets
from websockets.asyncio.client import ClientConnection

from moot.agents.python import AgentFunction
from moot.app import App, open_app
from moot.config.team_file import TeamFile
from moot.core.codec import stamp
from moot.core.session.events import NoticePosted
from moot.core.session.principal import Role
from moot.gateway.auth import TOKENS_FILE, Tokens
from moot.gateway.metrics import Metrics
from moot.gateway.serving import bind
from moot.gateway.settings import GatewaySettings
from moot.gateway.token_file import TokenFile
from moot.gateway.uvicorn_port import make_config
from moot.gateway.ws import WebSocketEndpoint
from moot.runtime.clock import SystemClock
from moot.runtime.ports import Agent
from moot.testing import human, make_team, scripted
from tests.cli.command import check_chain

P = ParamSpec("P")
Frame = dict[str, Any]

TOKEN = "owner-token-of-the-tests"  # noqa: S105
TEAM = make_team(human("alice"), human("eve"), scripted("bob", "hello back"), scripted("carol", "and hello from me"))
SOLO = make_team(human("alice"), scripted("bob", "hello back"))
FULL = os.environ.get("MOOT_FULL") == "1"  # every case of the long tests; without it a sample
DEADLINE_S = 180 if not FULL else 900
WAIT_S = 60.0


def run(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """An async test as a plain one, on the event loop that `moot serve` uses; a test that hangs fails."""

    @functools.wraps(test)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(asyncio.wait_for(test(*args, **kwargs), DEADLINE_S))

    return wrapped


async def until(condition: Callable[[], bool]) -> None:
    """Look again and again until it is so."""
    while not condition():  # noqa: ASYNC110 - what others do has no event
        await asyncio.sleep(0.01)


class Peer:
    """A client that keeps what it was sent: `frames` as they came, `lines` of each session as text."""

    def __init__(self, link: ClientConnection) -> None:
        self.link = link
        self.frames: list[Frame] = []
        self.lines: dict[str, list[str]] = {}
        self._ready: list[Frame] = []

    async def send(self, event: str, **fields: Any) -> None:
        await self.link.send(json.dumps({"event": event, **fields}))

    async def next(self, wait_s: float = WAIT_S) -> Frame:
        """The next frame; a batch is taken apart."""
        while not self._ready:
            async with asyncio.timeout(wait_s):
                text = await self.link.recv(decode=True)
            said = json.loads(text)
            lines = split_batch(text) if isinstance(said, list) else [text]
            for frame, line in zip(said if isinstance(said, list) else [said], lines, strict=True):
                self._ready.append(frame)
                if "seq" in frame:
                    self.lines.setdefault(frame["session_id"], []).append(line)
        self.frames.append(self._ready.pop(0))
        return self.frames[-1]

    async def until(self, *names: str) -> list[Frame]:
        """Frames up to and with the first of one of these names."""
        frames = [await self.next()]
        while frames[-1]["event"] not in names:
            frames.append(await self.next())
        return frames

    async def until_seq(self, seq: int) -> list[Frame]:
        """Frames up to and with this place of a session."""
        frames = [await self.next()]
        while frames[-1].get("seq") != seq:
            frames.append(await self.next())
        return frames

    async def ask(self, event: str, **fields: Any) -> Frame:
        """Send it and return what answers it: the next frame that is no event of the log and no heartbeat."""
        await self.send(event, **fields)
        while "seq" in (frame := await self.next()) or frame["event"] == "system.heartbeat":
            pass
        return frame

    async def create(self, **fields: Any) -> str:
        """A new session; the frames up to its creation are read."""
        await self.send("user.create_session", **fields)
        session_id: str = (await self.until("agent.session_created"))[-1]["session_id"]
        return session_id

    async def resume(self, session_id: str, seq: int, checksum: str | None = None) -> Frame:
        """Ask for what comes behind `seq`; the answer."""
        fields: Frame = {"session_id": session_id, "last_seq": seq}
        if checksum is not None:
            fields["state_checksum"] = checksum
        return await self.ask("user.reconnect_with_state", **fields)

    async def is_silent(self, seconds: float = 0.2) -> bool:
        """Nothing more comes for so long."""
        try:
            await self.next(seconds)
        except TimeoutError:
            return True
        return False

    async def closed_with(self, wait_s: float = WAIT_S) -> int:
        """Read whatever still comes; the code of the close frame."""
        async with asyncio.timeout(wait_s):
            try:
                while True:
                    await self.link.recv()
            except websockets.ConnectionClosed as closed:
                return closed.rcvd.code if closed.rcvd else 1006

    def check(self, session_id: str, previous: str = "") -> list[int]:
        """The seqs of a session as they came; the hash chain is computed anew from the bytes."""
        lines = self.lines[session_id]
        check_chain(lines, previous)
        return [json.loads(line)["seq"] for line in lines]


def split_batch(text: str | bytes) -> list[str]:
    """The frames of a batch as they stand in it: the very bytes count."""
    whole = text if isinstance(text, str) else text.decode()
    decoder, at, lines = json.JSONDecoder(), 1, []
    while whole[at - 1] != "]":
        _, end = decoder.raw_decode(whole, at)
        lines.append(whole[at:end])
        at = end + 1
    return lines


class Server:
    def __init__(
        self, port: int, data: Path, app: App, tokens: Tokens, metrics: Metrics, endpoint: WebSocketEndpoint
    ) -> None:
        self.port = port
        self.app = app
        self.tokens = tokens
        self.metrics = metrics
        self.endpoint = endpoint
        self._token_file = TokenFile(data / TOKENS_FILE)

    @asynccontextmanager
    async def client(self, query: str = "", *, token: str = TOKEN, greeted: bool = True) -> AsyncIterator[Peer]:
        """A connection that has read its greeting."""
        url = f"ws://127.0.0.1:{self.port}/ws?token={token}{query}"
        async with websockets.connect(
            url, max_size=None, max_queue=None, compression=None, proxy=None, open_timeout=60
        ) as link:
            peer = Peer(link)
            if greeted:
                assert (await peer.next())["event"] == "system.connected"
            yield peer

    def issue(self, role: Role, **who: Any) -> tuple[str, str]:
        """A new token and its id."""
        token, record = self._token_file.create(role, SystemClock().now(), **who)
        return token, record.token_id

    async def append(self, session_id: str, count: int, *, size: int = 100, at_once: int = 50) -> int:
        """Events that nobody asked for, written to the log; the head after them."""
        team = TEAM.team()
        head = await self.app.log.head(session_id)
        for start in range(0, count, at_once):
            facts = [
                NoticePosted(code="agent_error", who="bob", detail=f"{start + n} ".ljust(size, "x"))
                for n in range(min(at_once, count - start))
            ]
            events = stamp(team, session_id, head, facts, "2026-01-01T00:00:00.000Z")
            await self.app.log.append(session_id, head, events)
            head = events[-1].head
            await asyncio.sleep(0)
        return head.seq

    def count_connections(self) -> int:
        return len(self.endpoint._clients)

    def rss_bytes(self) -> int:
        """Of this process, which is the server's too."""
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def counted(self, name: str, **labels: str) -> float:
        """A counter of the server, as /metrics shows it."""
        named = ",".join(f'{label}="{value}"' for label, value in labels.items())
        shown = f"moot_{name}_total{{{named}}}" if labels else f"moot_{name}_total"
        lines = self.metrics.render().decode().splitlines()
        return next((float(line.rpartition(" ")[2]) for line in lines if line.rpartition(" ")[0] == shown), 0.0)


@asynccontextmanager
async def serve(
    data: Path,
    team: TeamFile = TEAM,
    *,
    agents: Mapping[str, AgentFunction | Agent] | None = None,
    **settings: Any,
) -> AsyncIterator[Server]:
    """The WebSocket endpoint alone, with the bounds of `moot serve`: what guards it is tested elsewhere."""
    with bind("127.0.0.1", 0) as bound:
        port = bound.getsockname()[1]
        async with open_app(team, data=data, agents=agents) as app:
            chosen = GatewaySettings(port=port, **settings)
            tokens, metrics = Tokens(data, owner_token=TOKEN), Metrics()
            endpoint = WebSocketEndpoint(app, tokens, chosen, metrics)
            server = uvicorn.Server(make_config(endpoint, chosen, metrics))
            serving = asyncio.create_task(server._serve([bound]))  # without its signal handlers
            try:
                await until(lambda: server.started)
                yield Server(port, data, app, tokens, metrics, endpoint)
            finally:
                await endpoint.close()
                server.should_exit = True
                await serving

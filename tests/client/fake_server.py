"""A server that speaks recorded answers, over a real socket."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from moot.core.codec import Event, decode, place, stored_bytes
from moot.core.evolve import evolve
from moot.core.session.state import State
from moot.core.view import View, project
from moot.protocol.merge import to_document
from tests.protocol.client_cases import GOLDEN

SESSION = "golden-chat-v1"
Handle = Callable[["Visit"], Awaitable[None]]
Answer = Callable[[ServerConnection, Request], Response | None]


def golden_events() -> list[Event]:
    events = []
    for line in GOLDEN:
        frame = json.loads(line)
        data = stored_bytes(line.encode(), place(line.encode()))
        assert data
        events.append(decode(data, frame["hash"]))
    return events


EVENTS = golden_events()


def state_at(seq: int) -> State:
    state: State | None = None
    for event in EVENTS[:seq]:
        state = evolve(state, event.fact)
    assert state
    return state


def view_at(seq: int) -> View:
    return project(state_at(seq))


class Visit:
    """One connection, from the server's side."""

    def __init__(self, socket: ServerConnection, number: int) -> None:
        self.socket = socket
        self.number = number  # the first is 1

    async def say(self, event: str, session_id: str | None = None, content: str | None = None, /, **said: Any) -> None:
        frame: dict[str, Any] = {"event": event, "metadata": said}
        if session_id:
            frame["session_id"] = session_id
        if content:
            frame["content"] = content
        await self.socket.send(json.dumps(frame))

    async def greet(self, **limits: Any) -> None:
        await self.say("system.connected", connection_id="c_1", protocol=1, heartbeat_s=30, limits=limits)

    async def play(self, first: int, last: int) -> None:
        """Frames of the golden log, in one message, and the view after them."""
        await self.socket.send(f"[{','.join(GOLDEN[first - 1 : last])}]")
        await self.say("session.view", SESSION, seq=last, whole=True, view=to_document(view_at(last)))

    async def hear(self, event: str) -> dict[str, Any]:
        """The next frame but acks; it must be this one."""
        while True:
            frame: dict[str, Any] = json.loads(await self.socket.recv())
            if frame["event"] != "user.ack":
                assert frame["event"] == event, frame
                return frame

    async def accept(self, frame: dict[str, Any], seq: int) -> None:
        await self.say("system.accepted", frame.get("session_id") or SESSION, command_id=frame["command_id"], seq=seq)

    async def create(self, seq: int = 1) -> None:
        """Let the client create the golden session, with its first events."""
        wanted = await self.hear("user.create_session")
        await self.play(1, seq)
        await self.accept(wanted, 1)

    async def stay(self) -> None:
        await self.socket.wait_closed()


class FakeServer:
    def __init__(self, url: str) -> None:
        self.url = url
        self.visits = 0
        self.trouble: list[BaseException] = []


@asynccontextmanager
async def fake_server(handle: Handle, answer: Answer | None = None) -> AsyncIterator[FakeServer]:
    """`handle` plays each connection; `answer` may refuse the upgrade or serve a page. What fails in it is raised."""
    fake = FakeServer("")

    async def visit(socket: ServerConnection) -> None:
        fake.visits += 1
        try:
            await handle(Visit(socket, fake.visits))
        except AssertionError as error:
            fake.trouble.append(error)
            raise

    async with serve(visit, "127.0.0.1", 0, process_request=answer) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        fake.url = f"http://127.0.0.1:{port}"
        yield fake
    for trouble in fake.trouble:
        raise trouble


def respond(status: HTTPStatus, body: str = "", location: str | None = None) -> Answer:
    """Answer every request like this instead of upgrading it."""

    def answer(connection: ServerConnection, request: Request) -> Response:
        response = connection.respond(status, body)
        if location:
            response.headers["Location"] = location
        return response

    return answer

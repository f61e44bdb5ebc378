"""The Python client against a server that speaks recorded answers."""

import asyncio
from http import HTTPStatus
from itertools import count

import msgspec
import pytest
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

import moot
from moot.client.client import connect
from moot.client.link_errors import HistoryReset, RemoteRefused
from moot.core.errors import NotFound, Refused
from moot.core.machines.connection import State
from moot.tui.viewer_state import ViewerState
from tests.client.deadline import run
from tests.client.fake_server import EVENTS, SESSION, Visit, fake_server, state_at, view_at
from tests.protocol.client_cases import GOLDEN

SETTLED = next(seq for seq in count(5) if state_at(seq).is_settled and EVENTS[seq - 1].name == "session.paused")


def test_a_session_is_used_like_one_in_this_process() -> None:
    """Connect, session, say: the events are the core's, until the floor is back with a human."""

    async def handle(visit: Visit) -> None:
        await visit.greet()
        await visit.create()
        said = await visit.hear("user.message")
        assert (said["content"], said["session_id"]) == ("hello", SESSION)
        await visit.accept(said, 3)  # before the events: the client must not look before it has them
        await visit.play(2, SETTLED)
        await visit.stay()

    async def test() -> None:
        async with fake_server(handle) as server, moot.connect(server.url, "secret") as client:
            session = await client.session(team="golden", title="x")
            events = [event async for event in session.say("hello")]
            assert events == EVENTS[1:SETTLED]
            assert await session.view() == view_at(SETTLED)
            assert client.state is State.CONNECTED

    run(test())


def test_the_token_goes_in_a_header_and_batches_are_asked_for() -> None:
    """Programs send Authorization: Bearer; our own clients use ?batch=1. The URL that is sent has no token."""
    seen: list[Request] = []

    def answer(connection: ServerConnection, request: Request) -> None:
        seen.append(request)

    async def handle(visit: Visit) -> None:
        await visit.greet()
        await visit.stay()

    async def test() -> None:
        async with fake_server(handle, answer) as server, connect(f"{server.url}/#token=secret", language="zh"):
            pass
        [request] = seen
        assert (request.path, request.headers["Authorization"]) == ("/ws?view=1&batch=1&lang=zh", "Bearer secret")

    run(test())


def test_a_command_whose_link_breaks_is_done_once() -> None:
    """exactly-once by command_id; the same bytes after the resume, one answer."""
    heard = []

    async def handle(visit: Visit) -> None:
        await visit.greet()
        if visit.number == 1:
            await visit.create(2)
            heard.append(await visit.hear("user.message"))
            return  # the link breaks before the answer
        asked = await visit.hear("user.reconnect_with_state")
        assert (asked["last_seq"], asked["state_checksum"]) == (2, EVENTS[1].hash)
        heard.append(await visit.hear("user.message"))
        await visit.say("system.connected", SESSION, session_id=SESSION, resumed=True)
        await visit.play(2, SETTLED)
        await visit.accept(heard[-1], 3)
        await visit.stay()

    async def test() -> None:
        async with fake_server(handle) as server, connect(server.url) as client:
            session = await client.session()
            moves = client.moves()
            assert (await anext(moves)).state is State.CONNECTED
            events = [event async for event in session.say("hello")]
            assert events == EVENTS[2:SETTLED]
            assert heard[0] == heard[1]
            assert server.visits == 2
            assert (await anext(moves)).state is State.CONNECTED  # the newest counts

    run(test())


def test_a_refusal_raises_with_the_servers_sentence() -> None:
    """Stable codes; the sentence says what to do. The session goes on."""

    async def handle(visit: Visit) -> None:
        await visit.greet()
        await visit.create()
        said = await visit.hear("user.response")
        told = {"code": "already_answered", "retryable": False, "by": "adam", "command_id": said["command_id"]}
        await visit.say("agent.error", SESSION, "This step was answered already by adam", **told)
        await visit.stay()

    async def test() -> None:
        async with fake_server(handle) as server, connect(server.url) as client:
            session = await client.session()
            with pytest.raises(Refused, match="answered already by adam") as caught:
                async for _ in session.answer("s1", confirmed=True):
                    pass
            assert isinstance(caught.value, RemoteRefused)
            assert (caught.value.code, caught.value.params) == ("already_answered", {"by": "adam"})
            assert (await session.view()).team == "golden"

    run(test())


def test_a_session_that_is_joined_starts_at_its_state() -> None:
    """The folded state and its place; following goes on from there, without the whole history."""

    async def handle(visit: Visit) -> None:
        await visit.greet()
        await visit.hear("user.request_state")
        told = {"state": msgspec.to_builtins(view_at(SETTLED)), "seq": SETTLED, "hash": EVENTS[SETTLED - 1].hash}
        await visit.say("agent.state_exported", SESSION, **told)
        asked = await visit.hear("user.reconnect_with_state")
        assert asked["last_seq"] == SETTLED
        await visit.say("system.connected", SESSION, session_id=SESSION, resumed=True)
        await visit.play(SETTLED + 1, SETTLED + 2)
        await visit.stay()

    async def test() -> None:
        async with fake_server(handle) as server, connect(server.url) as client:
            session = await client.session(SESSION)
            assert await session.view() == view_at(SETTLED)
            assert [event async for event in session.settle()] == []
            assert await anext(session.follow(SETTLED)) == EVENTS[SETTLED : SETTLED + 2]

    run(test())


def test_what_has_left_the_window_is_read_back_over_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounded memory; follow(0) still gives every event once, in order, verified."""
    monkeypatch.setattr("moot.client.tape.WINDOW_EVENTS", 5)
    monkeypatch.setattr("moot.client.client.PAGE_EVENTS", 7)

    def answer(connection: ServerConnection, request: Request) -> Response | None:
        if "/events?" not in request.path:
            return None
        after = int(request.path.partition("after=")[2].partition("&")[0])
        assert request.headers["Authorization"] == "Bearer secret"
        return connection.respond(HTTPStatus.OK, f"[{','.join(GOLDEN[after : after + 7])}]")

    async def handle(visit: Visit) -> None:
        await visit.greet()
        await visit.create(30)
        await visit.stay()

    async def test() -> None:
        async with fake_server(handle, answer) as server, connect(server.url, "secret") as client:
            session = await client.session()
            events = []
            async for batch in session.follow(0):
                events += batch
                if events[-1].seq >= 30:
                    break
            assert events == EVENTS[:30]
            assert [event async for event in session.history(3)] == EVENTS[3:30]

    run(test())


def test_screens_get_frames_streaming_text_and_the_state_of_the_link() -> None:
    """One stream to fold; streaming text passes, the connection is part of what is shown."""
    started = next(seq for seq, event in enumerate(EVENTS, start=1) if event.name == "turn.started")

    async def handle(visit: Visit) -> None:
        await visit.greet()
        if visit.number == 1:
            await visit.create(started)
            await visit.hear("user.pause")
            await visit.say("turn.delta", SESSION, turn_id="t1", text="Hel")
            return
        await visit.stay()

    async def test() -> None:
        async with fake_server(handle) as server, connect(server.url) as client:
            session = await client.session()
            viewer_state = ViewerState()
            async with asyncio.TaskGroup() as tasks:
                asking = tasks.create_task(session.submit("user.pause"))
                async for frame in session.frames():
                    viewer_state.take(frame)
                    if viewer_state.link.state == "RECONNECTING":
                        break
                asking.cancel()
            assert viewer_state.seq == started
            assert [viewer_state.streams[turn.turn_id].text for turn in viewer_state.view.running] == ["Hel"]

    run(test())


def test_another_history_ends_the_handle() -> None:
    """Divergence is told; who follows is not shown a mixture, and a new handle has the new history."""

    async def handle(visit: Visit) -> None:
        await visit.greet()
        if visit.number == 1:
            await visit.create(9)
            await visit.say("turn.delta", SESSION, turn_id="t1", text="x")
            return
        await visit.hear("user.reconnect_with_state")
        await visit.say("system.connected", SESSION, session_id=SESSION, resumed=False, reason="ahead")
        await visit.play(1, 4)
        await visit.hear("user.request_state")
        told = {"state": msgspec.to_builtins(view_at(4)), "seq": 4, "hash": EVENTS[3].hash}
        await visit.say("agent.state_exported", SESSION, **told)
        await visit.stay()

    async def test() -> None:
        async with fake_server(handle) as server, connect(server.url) as client:
            session = await client.session()
            with pytest.raises(HistoryReset, match="ahead"):
                async for _ in session.follow(0):
                    pass
            with pytest.raises(HistoryReset):
                await session.view()
            assert await (await client.session(SESSION)).view() == view_at(4)

    run(test())


def test_an_unknown_session_is_not_found() -> None:
    """Unknown or foreign session: the same not_found; as in process it raises NotFound."""

    async def handle(visit: Visit) -> None:
        await visit.greet()
        asked = await visit.hear("user.request_state")
        told = {"code": "not_found", "retryable": False, "command_id": asked["command_id"]}
        await visit.say("agent.error", "s_nobodys", "Session not found", **told)
        await visit.stay()

    async def test() -> None:
        async with fake_server(handle) as server, connect(server.url) as client:
            with pytest.raises(NotFound, match="Session not found"):
                await client.session("s_nobodys")

    run(test())

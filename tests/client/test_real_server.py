"""The Python client and `moot serve`, as people use them; links are cut and servers killed for real."""

import asyncio
import signal
from pathlib import Path

import pytest

import moot
from moot.client.client import connect
from moot.client.link_errors import RemoteRefused, Unauthenticated
from moot.core.codec import Event, chain
from moot.core.errors import NotFound, Refused
from moot.core.evolve import evolve
from moot.core.machines.session import Status
from moot.core.session.commands import End, Pause
from moot.core.session.events import MessagePosted, TurnStarted
from moot.core.session.state import State
from moot.core.view import project
from moot.tui.viewer_state import ViewerState
from tests.client.deadline import run
from tests.client.real_server import TOKEN, real_server


class Unlucky:
    """Chance that always says 0: the shortest waits."""

    def random(self) -> float:
        return 0.0


def check(events: list[Event]) -> State:
    """Dense, in order, a chain; and what it folds to."""
    state: State | None = None
    previous = ""
    for seq, event in enumerate(events, start=1):
        assert event.seq == seq
        previous = chain(previous, event.data)
        assert event.hash == previous
        state = evolve(state, event.fact)
    assert state
    return state


def test_a_conversation_over_the_wire(tmp_path: Path) -> None:
    """Create, say, follow, submit, list; the same as in process."""

    async def test() -> None:
        async with real_server(tmp_path) as (server, _), moot.connect(server.url, TOKEN) as client:
            session = await client.session(team="relay", title="over the wire")
            events = [event async for event in session.say("[NEXT: bob] hi", by="alice")]
            assert events[0].name == "message.posted"
            assert sum(isinstance(event.fact, TurnStarted) for event in events) == 30  # max_hops
            assert (events[-1].name, (await session.view()).pause_reason) == ("session.paused", "hop_limit")
            whole = [event async for event in session.history()]
            assert whole[1:] == events
            assert project(check(whole)) == await session.view()
            listed = await client.sessions()
            assert [(each["session_id"], each["seq"]) for each in listed] == [(session.id, whole[-1].seq)]
            with pytest.raises(Refused, match="no failed turn to retry") as caught:
                await session.submit("user.retry")
            assert caught.value.code == "nothing_to_retry"
            await session.submit(End())
            assert (await session.view()).status is Status.COMPLETED

    run(test())


def test_two_clients_see_one_session(tmp_path: Path) -> None:
    """Several connections may share a session; a joined one starts at its state and can read it all."""

    async def test() -> None:
        async with real_server(tmp_path) as (server, _), connect(server.url, TOKEN) as one:
            session = await one.session()
            async for event in session.say("[NEXT: bob] hi", by="adam"):
                if event.seq > 20:
                    break
            async with connect(f"{server.url}/#token={TOKEN}") as two:
                same = await two.session(session.id)
                settled = [event async for event in same.settle()]
                assert settled[-1].name == "session.paused"
                assert await same.view() == project(check([event async for event in same.history()]))
                viewer_state = ViewerState()
                async for frame in same.frames():
                    viewer_state.take(frame)
                    if viewer_state.seq == settled[-1].seq:
                        break
                assert (viewer_state.view.status, viewer_state.view.waiting_for) == ("paused", "alice")

    run(test())


def test_links_that_break_all_the_time_lose_and_double_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Resume is complete, commands exactly once; the cable is cut while each command is on its way."""
    monkeypatch.setattr("moot.client.link.SystemRandom", Unlucky)
    texts = [f"number {number} " for number in range(8)]

    async def test() -> None:
        async with real_server(tmp_path) as (_, cable), connect(cable.url, TOKEN) as client:
            session = await client.session()
            for number, text in enumerate(texts):
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(session.submit("user.message", content=f"[FROM: adam] {text}[NEXT: bob]"))
                    await asyncio.sleep(number / 1_000)  # before it is sent, while it is done, when it is answered
                    cable.cut()
            events: list[Event] = []
            async for batch in session.follow(0):
                events += batch
                if events[-1].name == "session.paused":
                    break
            said = [event.fact.text for event in events if isinstance(event.fact, MessagePosted)]
            assert [text for text in said if "number" in text] == [f"[FROM: adam] {text}" for text in texts]
            assert [event async for event in session.settle()] == []  # the view after the last event is here
            assert project(check(events)) == await session.view()
            assert cable.uses >= 4  # it was cut; not every time, as some cuts met a link that was down

    run(test())


def test_a_killed_server_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Durable before visible; after kill -9 the same client goes on with the same session."""
    monkeypatch.setattr("moot.client.link.SystemRandom", Unlucky)

    async def test() -> None:
        async with real_server(tmp_path) as (server, _), connect(server.url, TOKEN) as client:
            session = await client.session()
            events: list[Event] = []
            async for event in session.say("[NEXT: bob] hi", by="alice"):
                events.append(event)
                if event.seq == 25:
                    await server.stop(signal.SIGKILL)
                    await server.start()
            assert events[-1].name == "session.paused"
            assert [event.seq for event in events] == list(range(2, events[-1].seq + 1))
            assert project(check([event async for event in session.history()])) == await session.view()

    run(test())


def test_a_stopped_server_says_so_and_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1012; a command that is given meanwhile is done when the server is back."""
    monkeypatch.setattr("moot.client.link.SystemRandom", Unlucky)

    async def test() -> None:
        async with real_server(tmp_path) as (server, _), connect(server.url, TOKEN) as client:
            session = await client.session()
            await server.stop()
            async with asyncio.TaskGroup() as tasks:
                pausing = tasks.create_task(session.submit(Pause()))
                await server.start()
            assert pausing.result().seq == 3

    run(test())


def test_what_the_server_refuses(tmp_path: Path) -> None:
    """A wrong token, an unknown session, an unknown team: each its own error, with a sentence."""

    async def test() -> None:
        async with real_server(tmp_path) as (server, _):
            with pytest.raises(Unauthenticated):
                async with connect(server.url, "wrong"):
                    pass
            async with connect(server.url, TOKEN) as client:
                with pytest.raises(NotFound):
                    await client.session("s_0000000000000000")
                with pytest.raises(RemoteRefused, match="no team nobody here: use one of relay"):
                    await client.session(team="nobody")
                session = await client.session()
                with pytest.raises(RemoteRefused, match="FROM"):
                    async for _ in session.say("hello"):
                        pass

    run(test())

"""Text and thoughts as they come: beside the log, to those who follow, dropped first for who is slow."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from moot.config.team_file import TeamFile
from moot.core import limits
from moot.core.flows.turns import TurnInput
from moot.runtime.ports import Delta, Output, Result, Step, Thinking
from moot.testing import human, scripted
from tests.gateway.server import SOLO, run, serve


async def write_slowly(turn: TurnInput) -> AsyncIterator[Output]:
    for word in ("one ", "two ", "three"):
        yield Delta(word)
        await asyncio.sleep(0.02)
    yield Result(text="one two three")


async def think_aloud(turn: TurnInput) -> AsyncIterator[Output]:
    yield Thinking("two and ")
    yield Thinking("two")
    yield Step(thought="two and two")
    yield Delta("Four.")
    yield Result(text="Four.")


@pytest.mark.parametrize("query", ["", "&batch=1"])
@run
async def test_streaming(tmp_path: Path, query: str) -> None:
    """Text is shown as it is written, in frames without seq or hash, to those who follow the session alone."""
    streaming = serve(tmp_path, SOLO, agents={"bob": write_slowly})
    async with streaming as server, server.client(query) as peer, server.client() as elsewhere:
        await elsewhere.create()
        session_id = await peer.create()
        await peer.send("user.message", content="[NEXT: bob] count")
        frames = await peer.until("session.paused")
        deltas = [frame for frame in frames if frame["event"] == "turn.delta"]
        assert [delta["metadata"]["text"] for delta in deltas] == ["one ", "two ", "three"]
        assert all(delta.keys() == {"event", "session_id", "timestamp", "metadata"} for delta in deltas)
        assert peer.check(session_id) == list(range(1, len(peer.lines[session_id]) + 1))
        assert await elsewhere.is_silent(0.05)


@run
async def test_thoughts_stream_beside_the_answer(tmp_path: Path) -> None:
    """A thought streams under a name of its own, so that who does not know it takes it for no answer."""
    async with serve(tmp_path, SOLO, agents={"bob": think_aloud}) as server, server.client() as peer:
        await peer.create()
        await peer.send("user.message", content="[NEXT: bob] count")
        frames = await peer.until("session.paused")
        passing = [(frame["event"], frame["metadata"]["text"]) for frame in frames if "seq" not in frame]
        assert passing == [("turn.thinking", "two and "), ("turn.thinking", "two"), ("turn.delta", "Four.")]
        assert [frame["metadata"]["thought"] for frame in frames if frame["event"] == "turn.step"] == ["two and two"]


@run
async def test_a_task_streams_under_a_name_of_its_own(tmp_path: Path) -> None:
    """What a task of a plan writes is `solver.delta`, with its dispatch; what a planner writes is not."""

    async def write(turn: TurnInput) -> AsyncIterator[Output]:
        yield Delta(turn.job)
        yield Result(text="Done.")

    members = (human("alice"), scripted("pam", role="planner"), scripted("wu", role="executor"))
    team = TeamFile(moot=1, name="work", flow="plan", language="en", members=members)
    async with serve(tmp_path, team, agents={"pam": write, "wu": write}) as server, server.client() as peer:
        await peer.create()
        await peer.send("user.solve_tasks", tasks=[{"id": "a", "title": "Count", "objective": "Count to three."}])
        frames = await peer.until("session.paused")
        [dispatch] = [frame["metadata"] for frame in frames if frame["event"] == "task.dispatch_requested"]
        written = [(frame["event"], frame["metadata"]["text"]) for frame in frames if "seq" not in frame]
        assert ("turn.delta", "aggregate") in written
        [piece] = [frame["metadata"] for frame in frames if frame["event"] == "solver.delta"]
        assert piece["turn_id"] == dispatch["dispatch_id"]


@run
async def test_streamed_text_is_cleaned(tmp_path: Path) -> None:
    """No piece of text has a control character or an override, whoever writes it and wherever it is cut, nor is it
    larger than what is kept of a turn that does not end."""

    async def write(turn: TurnInput) -> AsyncIterator[Output]:
        yield Thinking("a\x1b[2Jb")
        for piece in ("c\x1b]0;title\x07d\u202e", "\x1b", "]52;c;QUJD\x07\x9b\ud800", "e" * 10**6):
            yield Delta(piece)
        yield Result(text="cd")

    async with serve(tmp_path, SOLO, agents={"bob": write}) as server, server.client() as peer:
        await peer.create()
        await peer.send("user.message", content="[NEXT: bob] go")
        frames = await peer.until("session.paused")
        pieces = [frame["metadata"]["text"] for frame in frames if "seq" not in frame]
        assert pieces == ["ab", "cd", "", "]52;c;QUJD", "e" * limits.PARTIAL_CHARS]


@run
async def test_streaming_is_dropped_first(tmp_path: Path) -> None:
    """Who is slow misses streamed text, never an event."""
    async with serve(tmp_path, SOLO) as server, server.client() as peer:
        session_id = await peer.create()
        for n in range(2_000):  # more at once than anybody could be sent between two turns of the loop
            server.app.streams.show(session_id, "t1", Delta(str(n)))
        head = await server.append(session_id, 100)
        frames = await peer.until_seq(head)
        frames += [await peer.next() for _ in range(256 - sum(frame["event"] == "turn.delta" for frame in frames))]
        assert [frame["seq"] for frame in frames if "seq" in frame] == list(range(2, head + 1))
        assert [int(frame["metadata"]["text"]) for frame in frames if "seq" not in frame] == list(range(1_744, 2_000))
        assert await peer.is_silent()

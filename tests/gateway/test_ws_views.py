"""Views over a connection: merge patches that follow the events, for those who ask for them."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from moot.agents.script import ScriptEntry
from moot.core.evolve import evolve
from moot.core.flows.plan.plan_settings import PlanSettings
from moot.core.session.state import State
from moot.core.session.team import Language
from moot.core.view import project
from moot.protocol.merge import merge, to_document
from moot.testing import human, make_team, scripted
from tests.gateway.server import SOLO, TEAM, Peer, Server, run, serve

Frame = dict[str, Any]
QUERY = "&view=1"


def check_views(frames: list[Frame], states: list[State], language: Language | None = None) -> Frame:
    """Each view frame comes after the events that it includes, and adds up to the view of the log up to there."""
    merged: Frame = {}
    seq = 0
    for frame in frames:
        seq = frame.get("seq", seq)
        if frame["event"] != "session.view":
            continue
        change = frame["metadata"]
        assert change["seq"] == seq
        merged = merge({} if change["whole"] else merged, change["view"])
        assert merged == msgspec.json.decode(msgspec.json.encode(to_document(project(states[seq - 1], language))))
    return merged


async def states_of(server: Server, session_id: str) -> list[State]:
    states: list[State] = []
    for event in await server.app.log.read(session_id):
        states.append(evolve(states[-1] if states else None, event.fact))
    return states


async def talk(peer: Peer, text: str) -> list[Frame]:
    """Say something; frames until the floor is back and the view says so."""
    await peer.send("user.message", content=text)
    frames = await peer.until("session.paused")
    while frames[-1]["event"] != "session.view" or frames[-1]["metadata"]["seq"] < max(f.get("seq", 0) for f in frames):
        frames.append(await peer.next())
    return frames


@pytest.mark.parametrize("query", [QUERY, f"{QUERY}&batch=1"])
@run
async def test_patches_add_up_to_the_view(tmp_path: Path, query: str) -> None:
    """After the events up to `seq` a connection has exactly the view of the log up to there; the first is whole."""
    async with serve(tmp_path, SOLO) as server, server.client(query) as peer:
        session_id = await peer.create()
        frames = list(peer.frames)
        for number in range(3):
            frames += await talk(peer, f"[NEXT: bob] {number}")
        merged = check_views(frames, await states_of(server, session_id))
        assert (merged["status"], merged["counters"]["messages"]) == ("paused", 6)
        assert [frame["metadata"]["whole"] for frame in frames if frame["event"] == "session.view"].count(True) == 1


@run
async def test_who_does_not_ask_is_sent_none(tmp_path: Path) -> None:
    """The frames of other connections are what they always were."""
    async with serve(tmp_path, SOLO) as server, server.client() as plain, server.client(QUERY) as other:
        session_id = await plain.create()
        await other.send("user.reconnect", session_id=session_id)
        await plain.send("user.message", content="[NEXT: bob] hi")
        await plain.until("session.paused")
        await other.until("session.paused")
        assert all(frame["event"] != "session.view" for frame in plain.frames)
        assert plain.lines == other.lines


@run
async def test_a_long_history_has_one_view(tmp_path: Path) -> None:
    """Whoever comes late is sent the events, and then the view at their end: once, and whole."""
    async with serve(tmp_path, SOLO, window_events=10) as server, server.client() as peer:
        session_id = await peer.create()
        for number in range(30):
            await peer.send("user.message", content=f"[NEXT: bob] {number}")
            await peer.until("session.paused")
        states = await states_of(server, session_id)
        async with server.client(QUERY) as late:
            await late.send("user.reconnect", session_id=session_id)
            frames = await late.until("session.view")
            check_views(frames, states)
            assert frames[-1]["metadata"]["seq"] == len(states)


@run
async def test_following_again_starts_with_a_whole_view(tmp_path: Path) -> None:
    """A resumed session that missed nothing is shown at once, whole: the client may have lost what it had."""
    async with serve(tmp_path, SOLO) as server, server.client(QUERY) as peer:
        session_id = await peer.create()
        await talk(peer, "[NEXT: bob] hi")
        seq = len(peer.lines[session_id])
        await peer.resume(session_id, seq)
        [*_, shown] = await peer.until("session.view")
        assert (shown["metadata"]["whole"], shown["metadata"]["seq"]) == (True, seq)


@run
async def test_a_view_speaks_the_language_of_its_reader(tmp_path: Path) -> None:
    """Questions of one session are told in the language that each connection asked for."""
    clients = serve(tmp_path, TEAM)
    async with clients as server, server.client(f"{QUERY}&lang=en") as en, server.client(f"{QUERY}&lang=zh") as zh:
        session_id = await en.create()
        await zh.send("user.reconnect", session_id=session_id)
        await en.send("user.message", content="[FROM: alice] [NEXT: bob, eve, carol] hi")
        await en.until("session.paused")
        await en.send("user.message", content="/queue clear")
        for peer, text in ((en, "Clear the queue?"), (zh, "清空队列？")):
            merged: Frame = {}
            while not merged.get("questions"):
                for frame in (await peer.until("session.view"))[-1:]:
                    merged = merge(merged, frame["metadata"]["view"])
            assert [question["text"] for question in merged["questions"]] == [text]


@run
async def test_a_plan_and_its_tasks(tmp_path: Path) -> None:
    """The board of a plan arrives as patches, too."""
    planned = {"summary": "one", "tasks": [{"id": "a", "title": "A"}, {"id": "b", "title": "B"}]}
    members = (
        human("alice"),
        scripted("nora", msgspec.convert({"plan": planned}, ScriptEntry), "All of it.", role="planner"),
        scripted("ben", "done", role="executor"),
    )
    team = replace(make_team(*members), flow="plan", plan=PlanSettings(confirm="never"))
    async with serve(tmp_path, team) as server, server.client(QUERY) as peer:
        session_id = await peer.create()
        frames = [*peer.frames, *await talk(peer, "Write a report")]
        merged = check_views(frames, await states_of(server, session_id))
        assert [merged["work"]["tasks"][task_id]["state"] for task_id in merged["work"]["order"]] == ["DONE", "DONE"]

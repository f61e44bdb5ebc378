"""A minimal client in conversation: its links, acks, questions and texts."""

import asyncio
import json
from pathlib import Path

import pytest

from moot.core.flows.turns import TurnInput
from moot.testing import human, make_team, scripted
from tests.e2e.minimal_client import PLACES, MinimalClient
from tests.gateway.server import SOLO, run, serve


@pytest.mark.parametrize("place", PLACES)
@run
async def test_the_life_of_a_minimal_client(tmp_path: Path, place: str) -> None:
    """Create, talk, ack, lose the link, miss something, come back: all of it, once, in order."""
    async with serve(tmp_path, SOLO) as server:
        client = MinimalClient(server.port, place)
        await client.connect()
        await client.create()
        await client.say("[NEXT: bob] hello")
        await client.wait_for("turn.completed")
        await client.wait_for("session.paused")
        await client.send("user.ack", last_seq=client.seen[-1]["seq"])
        assert await client.is_quiet()  # an ack has no answer
        await client.drop()
        async with server.client() as somebody:  # the work goes on
            await somebody.ask("user.reconnect", session_id=client.session_id)
            await somebody.send("user.message", session_id=client.session_id, content="[NEXT: bob] while you were out")
            await somebody.until("turn.completed")
            await somebody.until("session.paused")
            log = [frame for frame in somebody.frames if "seq" in frame]
        await client.reconnect()
        while client.seen[-1]["seq"] < log[-1]["seq"]:
            client.seen.append(await client.read())
        assert [frame["seq"] for frame in client.seen] == list(range(1, len(client.seen) + 1))
        assert client.seen[: len(log)] == log
        await client.send("user.ack", last_event_id=client.seen[-1]["event_id"])
        assert server.counted("ignored_acks") == 0
        await client.say("[NEXT: bob] and now together")
        await client.wait_for("session.paused")
        await client.close()


@run
async def test_acks_in_every_form(tmp_path: Path) -> None:
    """user.ack with a bare number, without a session: the connection's session is meant."""
    async with serve(tmp_path, SOLO) as server:
        client = MinimalClient(server.port, "top")
        await client.connect()
        await client.create()
        await client.say("[NEXT: bob] hello")
        await client.wait_for("session.paused")
        last = client.seen[-1]["seq"]
        await client.send_text(json.dumps({"event": "user.ack", "content": last - 1}))
        await client.send_text(json.dumps({"event": "user.ack", "metadata": {"last_seq": last}}))
        await client.say("/status")
        await client.wait_for("notice.posted")
        assert server.counted("ignored_acks") == 0
        await client.close()


@run
async def test_texts_for_minimal_clients(tmp_path: Path) -> None:
    """The sentences that existing clients look for are kept."""
    async with serve(tmp_path, SOLO) as server:
        client = MinimalClient(server.port, "metadata")
        await client.connect()
        await client.send_text("{")
        assert (await client.wait_for("system.error"))["content"].startswith("Invalid JSON: ")
        await client.send("user.reconnect", session_id="sess_xyz123")
        assert (await client.wait_for("agent.error"))["content"] == "Session not found"
        await client.create()
        await client.say("")
        assert (await client.wait_for("agent.error"))["content"].startswith("Message content cannot be empty")
        await client.send("user.response", confirmed=True)
        assert (await client.wait_for("agent.error"))["content"] == "Missing step_id in user response"
        await client.close()


async def think_for_ever(turn: TurnInput) -> str:
    await asyncio.Event().wait()
    return ""


@pytest.mark.parametrize("place", PLACES)
@run
async def test_answering_a_question(tmp_path: Path, place: str) -> None:
    """agent.user_confirm is paired with user.response by its step_id, wherever that stands."""
    team = make_team(human("alice"), scripted("bob"), scripted("carol", "hello"))
    async with serve(tmp_path, team, agents={"bob": think_for_ever}) as server:
        client = MinimalClient(server.port, place)
        await client.connect()
        await client.create()
        await client.say("[NEXT: bob, carol] hello")
        await client.wait_for("turn.started")
        await client.say("/queue clear")
        step_id = (await client.wait_for("agent.user_confirm"))["step_id"]
        await client.send("user.response", step_id=step_id, confirmed=True)
        closed = await client.wait_for("agent.user_confirm_closed")
        assert (closed["step_id"], closed["metadata"]["outcome"]) == (step_id, "answered")
        await client.send("user.response", step_id=step_id, approved=True)
        assert (await client.wait_for("agent.error"))["metadata"]["code"] == "already_answered"
        await client.close()

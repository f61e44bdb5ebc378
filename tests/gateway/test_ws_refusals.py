"""What clients get wrong: told by a stable code; nothing else happens."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import websockets

from moot.core.session.principal import Role
from tests.gateway.server import SOLO, TOKEN, Peer, run, serve

BAD_JSON = {
    "no JSON": "user.message",
    "nothing": "",
    "half": '{"event": "user.message"',
    "two": '{"event": "user.end"} {"event": "user.end"}',
    "not an object": '["user.message"]',
    "depth 33": '{"event": "user.message", "content": ' + "[" * 32 + "]" * 32 + "}",
    "depth 100,000": '{"event": "user.message", "content": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "depth 100,000 of objects": '{"a":' * 40_000 + "1" + "}" * 40_000,
    "NaN": '{"event": "user.ack", "last_seq": NaN}',
    "-Infinity": '{"event": "user.ack", "last_seq": -Infinity}',
    "1e999": '{"event": "user.ack", "last_seq": 1e999}',
    "an int of 5,000 digits": '{"event": "user.ack", "last_seq": ' + "9" * 5_000 + "}",
    "a key twice": '{"event": "user.end", "event": "user.end"}',
    "a session twice": '{"event": "user.end", "session_id": "s_aaaaaaaa", "session_id": "s_bbbbbbbb"}',
    "a key twice, deep": '{"event": "user.end", "metadata": {"a": 1, "a": 1}}',
    "a lone surrogate": '{"event": "user.message", "content": "\\ud800"}',
    "a lone surrogate as a key": '{"event": "user.message", "\\udfff": 1}',
}
CURSORS: dict[str, dict[str, Any]] = {
    "negative": {"last_seq": -1},
    "a float": {"last_seq": 4.0},
    "a bool": {"last_seq": True},
    "a string": {"last_seq": "4"},
    "2^63": {"last_seq": 2**63},
    "2^53": {"last_seq": 2**53},
    "null": {"last_seq": None},
    "missing": {},
    "a list": {"last_seq": [4]},
    "null before a good one": {"last_seq": None, "metadata": {"last_seq": 1}},
    "an event id without a seq": {"last_event_id": "s_0123456789abcdef"},
    "an event id of nothing": {"last_event_id": "-1"},
    "an event id with a sign": {"last_event_id": "s_0123456789abcdef-+1"},
    "an event id with digits of another script": {"last_event_id": "s_0123456789abcdef-١"},
    "an event id with a huge seq": {"last_event_id": "s_0123456789abcdef-" + "9" * 400},
    "an event id that is a number": {"last_event_id": 4},
}
BLANK: list[Any] = ["", "   \n\t", "\u200b\u200d\ufeff", "\u2800", "\x00", None, 5, [], {"text": ""}]


@run
async def test_bad_json(tmp_path: Path) -> None:
    """What is not strictly one JSON object is `bad_json`; the connection survives it."""
    async with serve(tmp_path, messages_per_s=1e6, message_burst=10**6) as server, server.client() as peer:
        session_id = await peer.create()
        for name, text in BAD_JSON.items():
            await peer.link.send(text)
            answer = await peer.next()
            assert (name, answer["event"]) == (name, "system.error")
            assert (name, answer["metadata"]) == (name, {"code": "bad_json", "retryable": False})
            assert answer["content"].startswith("Invalid JSON: ")
        assert (await peer.ask("user.request_state", session_id=session_id))["metadata"]["seq"] == 1


@run
async def test_bad_cursors(tmp_path: Path) -> None:
    """A malformed cursor is `bad_cursor`, nothing is replayed, never "from 0" by accident."""
    async with serve(tmp_path, messages_per_s=1e6, message_burst=10**6) as server:
        async with server.client() as first:
            session_id = await first.create()
            await server.append(session_id, 20)
        async with server.client() as peer:
            for name, fields in CURSORS.items():
                answer = await peer.ask("user.reconnect_with_state", session_id=session_id, command_id=name, **fields)
                assert (name, answer["event"]) == (name, "agent.error")
                assert answer["metadata"] == {"code": "bad_cursor", "retryable": False, "command_id": name}
            assert await peer.is_silent()
            assert [frame["event"] for frame in peer.frames[1:]] == ["agent.error"] * len(CURSORS)


@run
async def test_sessions_that_are_not_yours(tmp_path: Path) -> None:
    """A session that exists and is not yours, one that does not, and an id that cannot be one look alike."""
    async with serve(tmp_path, messages_per_s=1e6, message_burst=10**6) as server:
        async with server.client() as owner:
            mine, foreign = await owner.create(), await owner.create()
        token, _ = server.issue(Role.MEMBER, session_id=mine, member="alice")
        asked: list[tuple[str, dict[str, Any]]] = [
            ("user.reconnect", {}),
            ("user.reconnect_with_state", {"last_seq": 0}),
            ("user.request_state", {}),
            ("user.message", {"content": "hi"}),
            ("user.end", {}),
        ]
        async with server.client(token=token) as peer:
            for event, fields in asked:
                answers = []
                for session_id in (foreign, "s_0000000000000000"):
                    answer = await peer.ask(event, session_id=session_id, **fields)
                    assert answer.pop("session_id") == session_id
                    del answer["timestamp"]
                    answers.append(answer)
                assert answers[0] == answers[1]
                assert answers[0]["metadata"]["code"] == "not_found"
                assert answers[0]["content"] == "Session not found"
                for no_id in ("../../etc", "", "S_UPPERCASE", 7, "x" * 65):
                    answer = await peer.ask(event, session_id=no_id, **fields)
                    assert answer["metadata"]["code"] == "not_found"
        assert (await server.app.log.head(foreign)).seq == 1


@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", f"?token={TOKEN}x", "?Token=" + TOKEN])
@run
async def test_no_token_no_connection(tmp_path: Path, query: str) -> None:
    """Without a valid token the connection is closed with 4401 at once, before anything is said."""
    async with serve(tmp_path) as server:
        async with server.client() as owner:
            session_id = await owner.create()
        async with websockets.connect(f"ws://127.0.0.1:{server.port}/ws{query}", proxy=None) as link:
            peer = Peer(link)
            with suppress(websockets.ConnectionClosed):
                await peer.send("user.reconnect", session_id=session_id)
            assert await peer.closed_with() == 4401
            assert peer.frames == []


@run
async def test_acks_that_cannot_be_right(tmp_path: Path) -> None:
    """Acks beyond what was sent, going back, or of a session not followed: no answer, counted, harmless."""
    async with serve(tmp_path) as server, server.client() as peer:
        async with server.client() as another:
            foreign = await another.create()
        session_id = await peer.create()
        head = await server.append(session_id, 9)
        await peer.until_seq(head)
        await peer.send("user.ack", last_seq=5)
        wrong: list[dict[str, Any]] = [
            {"last_seq": head + 1},
            {"last_seq": 4},
            {"last_seq": 5},
            {"last_seq": 0},
            {"session_id": foreign, "last_seq": 1},
            {"session_id": "s_0000000000000000", "last_seq": 1},
            {"session_id": "no id", "last_seq": 6},
            {"last_event_id": f"{foreign}-1"},
            {"last_event_id": "x"},
            {"session_id": session_id, "last_event_id": f"{foreign}-7"},
            {"content": -1},
            {"content": 10**30},
            {"content": "6"},
            {"last_seq": True},
            {"last_seq": 6.0},
            {},
        ]
        for fields in wrong:
            await peer.send("user.ack", **fields)
        answer = await peer.ask("user.set_language", language="en", command_id="last")
        assert answer["event"] == "system.accepted"
        assert server.counted("ignored_acks") == len(wrong)
        right: list[dict[str, Any]] = [
            {"content": 6},
            {"metadata": {"last_seq": 7}},
            {"content": {"last_event_id": f"{session_id}-8"}},
            {"last_event_id": f"{session_id}-9", "session_id": session_id},
            {"last_seq": 10, "content": 3},
        ]
        for fields in right:
            await peer.send("user.ack", **fields)
        await peer.ask("user.set_language", language="en", command_id="last")
        assert server.counted("ignored_acks") == len(wrong)
        assert (await server.app.log.head(session_id)).seq == head  # acks delete nothing and write nothing


@run
async def test_too_many_messages(tmp_path: Path) -> None:
    """Beyond the burst a command is `rate_limited`, by name; after three strikes 4429. Others are not affected."""
    async with serve(tmp_path) as server, server.client() as peer, server.client() as another:
        session_id = await another.create()
        for n in range(60):
            await peer.send("user.set_language", language="en", command_id=f"c{n}")
        assert await peer.closed_with() == 4429
        assert server.counted("commands_refused", code="rate_limited") == 3
        assert server.counted("closes", code="4429") == 1
        await another.send("user.message", session_id=session_id, content="[FROM: alice] [NEXT: bob] hi")
        await another.until("session.paused")
    async with serve(tmp_path) as server, server.client() as peer:
        for n in range(42):
            await peer.send("user.set_language", language="en", command_id=f"c{n}")
        answers = [await peer.next() for _ in range(42)]
        limited = [answer for answer in answers if answer["event"] == "system.error"]
        assert [answer["metadata"]["code"] for answer in limited] == ["rate_limited"] * len(limited)
        assert {answer["metadata"]["command_id"] for answer in limited} <= {"c40", "c41"}
        assert all(answer["metadata"]["retryable"] for answer in limited)
        assert len(limited) >= 1


@run
async def test_acks_are_cheap(tmp_path: Path) -> None:
    """Acking every event of a burst is not a flood."""
    async with serve(tmp_path) as server, server.client() as peer:
        session_id = await peer.create()
        head = await server.append(session_id, 200)
        await peer.until_seq(head)
        for seq in range(2, head + 1):
            await peer.send("user.ack", last_seq=seq)
        await peer.ask("user.request_state", session_id=session_id)
        assert server.counted("ignored_acks") == 0


@run
async def test_caps_on_connections(tmp_path: Path) -> None:
    """One too many in all is answered 503, one too many of a user 429; a place that is free again can be taken."""
    async with serve(tmp_path, connections=3, connections_per_user=2) as server:
        token, other = server.issue(Role.VIEWER)[0], server.issue(Role.VIEWER)[0]
        async with server.client(token=token), server.client(token=token):
            with pytest.raises(websockets.InvalidStatus) as refused:
                await server.client(token=token).__aenter__()
            assert refused.value.response.status_code == 429
            async with server.client(token=other):
                with pytest.raises(websockets.InvalidStatus) as full:
                    await server.client(token=other).__aenter__()
                assert full.value.response.status_code == 503
        await asyncio.sleep(0.1)
        async with server.client() as peer:
            await peer.create()


@run
async def test_what_is_newer_or_unknown(tmp_path: Path) -> None:
    """Unknown events are typed errors, unknown fields are ignored, a newer protocol is told both versions."""
    async with serve(tmp_path) as server, server.client() as peer:
        session_id = await peer.create(colour="red", metadata={"shape": [1]}, protocol=1)
        for event in ("user.fly", "agent.final_answer", "", None, 7, {"a": 1}):
            await peer.link.send(json.dumps({"event": event, "session_id": session_id, "command_id": "c"}))
            answer = await peer.next()
            assert answer["event"] == "system.error"
            assert answer["metadata"] == {"code": "unknown_event", "retryable": False, "command_id": "c"}
            assert "user.message" in answer["content"]
        answer = await peer.ask("user.message", content="hi", protocol=2, command_id="c")
        assert answer["metadata"] == {"code": "upgrade_required", "retryable": False, "command_id": "c"}
        assert "2" in answer["content"]
        assert "1" in answer["content"]
        for event in ("user.solve_tasks", "user.cancel_task", "user.restart_task", "user.cancel_plan", "user.replan"):
            answer = await peer.ask(event, command_id=event, task_id="1", tasks=[])
            assert (answer["event"], answer["metadata"]["code"]) == ("agent.error", "not_in_this_flow")
        missing = await peer.ask("user.response", command_id="r", confirmed=True)
        assert missing["content"] == "Missing step_id in user response"
        assert missing["metadata"] == {"code": "missing_step_id", "retryable": False, "command_id": "r"}


@run
async def test_texts(tmp_path: Path) -> None:
    """Empty, blank and too long texts are refused with a reason; NUL and direction overrides are not stored."""
    async with serve(tmp_path, SOLO, frame_bytes=1024 * 1024) as server, server.client() as peer:
        session_id = await peer.create()
        for blank in BLANK:
            answer = await peer.ask("user.message", content=blank, command_id="c")
            assert (answer["event"], answer["metadata"]["code"]) == ("agent.error", "empty_message")
            assert answer["content"].startswith("Message content cannot be empty")
        answer = await peer.ask("user.message", content="x" * 1_000_000)
        assert answer["metadata"]["code"] == "message_too_long"
        answer = await peer.ask("user.message", metadata={"text": 7}, command_id="e")
        assert answer["metadata"] == {"code": "bad_field", "retryable": False, "command_id": "e"}
        assert (await server.app.log.head(session_id)).seq == 1
        await peer.send("user.message", content="a\x00b \u202eright to left\x1b[2J [NEXT: alice]")
        posted = (await peer.until("message.posted"))[-1]
        assert posted["content"].strip() == "ab right to left"
        [stored] = await server.app.log.read(session_id, posted["seq"] - 1, 1)
        assert b"\\u0000" not in stored.data

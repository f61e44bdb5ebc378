"""Commands: exactly once by id, several sessions and connections, roles, signed states."""

import asyncio
import json
from pathlib import Path
from typing import Any

from moot.core.session.principal import Role
from tests.gateway.server import SOLO, Peer, Server, run, serve

FAST: dict[str, Any] = {"messages_per_s": 1e6, "message_burst": 10**6}
WRITES: dict[str, dict[str, Any]] = {
    "user.message": {"content": "hi"},
    "user.end": {},
    "user.queue": {"content": "clear"},
    "user.response": {"step_id": "s1", "confirmed": True},
    "user.pause": {},
    "user.rename": {"title": "x"},
}


async def posted(server: Server, session_id: str) -> list[str]:
    """The texts in the log."""
    events = await server.app.log.read(session_id)
    return [event.fact.text.strip() for event in events if event.name == "message.posted"]  # type: ignore[attr-defined]


async def answers(peer: Peer, count: int) -> list[Any]:
    """So many answers to commands, without what differs by time."""
    found: list[Any] = []
    while len(found) < count:
        frame = await peer.next()
        if frame["event"] in ("system.accepted", "agent.error", "system.error"):
            found.append({name: value for name, value in frame.items() if name != "timestamp"})
    return found


@run
async def test_one_command_a_hundred_times(tmp_path: Path) -> None:
    """The same command id 100 times over two connections is one event and 100 equal replies."""
    async with serve(tmp_path, SOLO, **FAST) as server, server.client() as one, server.client() as two:
        session_id = await one.create()
        fields = {"session_id": session_id, "content": "[NEXT: alice] only once", "command_id": "c-1"}
        await asyncio.gather(*(peer.send("user.message", **fields) for _ in range(50) for peer in (one, two)))
        replies = await answers(one, 50) + await answers(two, 50)
        assert replies == [replies[0]] * 100
        assert replies[0]["event"] == "system.accepted"
        assert replies[0]["session_id"] == session_id
        assert replies[0]["metadata"] == {"command_id": "c-1", "seq": (await server.app.log.head(session_id)).seq}
        assert await posted(server, session_id) == ["only once"]
        await one.send("user.message", **fields, timestamp="2026-01-01T00:00:00.000Z")
        assert await answers(one, 1) == [replies[0]]  # when it was sent again does not matter


@run
async def test_a_command_id_with_another_body(tmp_path: Path) -> None:
    """A command id that comes back with another body is refused by name; nothing is logged."""
    async with serve(tmp_path, SOLO) as server, server.client() as peer:
        session_id = await peer.create()
        await peer.send("user.message", content="[NEXT: alice] first", command_id="c")
        await answers(peer, 1)
        await peer.send("user.message", content="[NEXT: alice] second", command_id="c")
        await peer.send("user.end", command_id="c")
        for refused in await answers(peer, 2):
            assert refused["event"] == "agent.error"
            assert refused["metadata"] == {"code": "command_id_reused", "retryable": False, "command_id": "c"}
        assert await posted(server, session_id) == ["first"]
        for wrong in ("", "x" * 129, 7, ["c"]):
            await peer.send("user.message", content="hi", command_id=wrong)
            assert (await answers(peer, 1))[0]["metadata"] == {"code": "bad_field", "retryable": False}


@run
async def test_a_refused_command_may_be_sent_again(tmp_path: Path) -> None:
    """A refusal is an answer, not a result: the same id may succeed when the reason is gone."""
    async with serve(tmp_path, SOLO) as server, server.client() as peer:
        await peer.create()
        refused = await peer.ask("user.cancel", command_id="c")
        assert refused["metadata"] == {"code": "nothing_running", "retryable": False, "command_id": "c"}
        await peer.send("user.message", content="[NEXT: alice] hi", command_id="c")
        assert (await answers(peer, 1))[0]["event"] == "system.accepted"


@run
async def test_creating_exactly_once(tmp_path: Path) -> None:
    """user.create_session with a command id makes one session, on whatever connection it is sent again."""
    async with serve(tmp_path, SOLO, **FAST) as server, server.client() as one, server.client() as two:
        fields = {"team": "test-team", "title": "a title", "command_id": "make it"}
        await asyncio.gather(*(peer.send("user.create_session", **fields) for _ in range(5) for peer in (one, two)))
        replies = await answers(one, 5) + await answers(two, 5)
        [listing] = await server.app.log.sessions()
        assert {reply["session_id"] for reply in replies} == {listing.session_id}
        assert all(reply["metadata"] == {"command_id": "make it", "seq": 1} for reply in replies)
        created = next(frame for frame in one.frames if "seq" in frame)
        assert created["event"] == "agent.session_created"
        assert created["seq"] == 1
        assert created["metadata"]["team"] == "test-team"
        assert created["metadata"]["title"] == "a title"
        await one.send("user.create_session", command_id="make it", title="another")
        assert (await answers(one, 1))[0]["metadata"]["code"] == "command_id_reused"
        await one.send("user.create_session", team="nobody", command_id="x")
        unknown = (await answers(one, 1))[0]
        assert unknown["metadata"] == {"code": "unknown_team", "retryable": False, "command_id": "x"}
        assert "test-team" in str(unknown["content"])
        assert len(await server.app.log.sessions()) == 1


@run
async def test_several_sessions_on_one_connection(tmp_path: Path) -> None:
    """Several sessions share a connection, each with its own order; frames without an id mean the last one."""
    async with serve(tmp_path, SOLO, sessions_per_connection=3) as server, server.client() as peer:
        first, second, third = [await peer.create() for _ in range(3)]
        await peer.send("user.message", content="[NEXT: alice] to the third")
        await peer.send("user.message", session_id=first, content="[NEXT: alice] to the first")
        await peer.send("user.message", content="[NEXT: alice] to the third again", command_id="last")
        await answers(peer, 1)
        assert await posted(server, first) == ["to the first"]
        assert await posted(server, second) == []
        assert await posted(server, third) == ["to the third", "to the third again"]
        assert peer.check(first) == list(range(1, len(peer.lines[first]) + 1))
        refused = await peer.ask("user.create_session", command_id="4")
        assert refused["metadata"] == {"code": "too_many_sessions", "retryable": False, "command_id": "4"}
        assert len(await server.app.log.sessions()) == 3
        assert (await peer.ask("user.reconnect", session_id=first))["metadata"]["session_id"] == first


@run
async def test_nothing_is_followed_yet(tmp_path: Path) -> None:
    """A frame that means no session is told so."""
    async with serve(tmp_path) as server, server.client() as peer:
        answer = await peer.ask("user.message", content="hi", command_id="c")
        assert answer["event"] == "system.error"
        assert answer["metadata"] == {"code": "missing_session", "retryable": False, "command_id": "c"}


@run
async def test_several_connections_on_one_session(tmp_path: Path) -> None:
    """What one client says, all clients of the session are shown, in the same order, byte for byte."""
    async with serve(tmp_path, **FAST) as server, server.client() as one, server.client("&batch=1") as two:
        session_id = await one.create()
        await two.resume(session_id, 0)
        for n in range(20):
            await one.send("user.message", content=f"[FROM: alice] [NEXT: alice] {n}")
            await two.send("user.message", content=f"[FROM: eve] [NEXT: eve] {n}")
        await one.send("user.end", command_id="the end")
        await asyncio.gather(one.until("session.completed"), two.until("session.completed"))
        assert one.check(session_id)[: len(two.lines[session_id])] == two.check(session_id)
        said = await posted(server, session_id)
        assert {text.split()[-1] for text in said} <= {str(n) for n in range(20)}


@run
async def test_languages(tmp_path: Path) -> None:
    """show_content is in the connection's language, by ?lang= or user.set_language; the log is the same."""
    async with serve(tmp_path, SOLO) as server, server.client("&lang=zh") as zh, server.client("&lang=en") as en:
        session_id = await zh.create()
        await en.resume(session_id, 0)
        await en.next()
        await zh.send("user.message", content="/status")
        in_chinese, in_english = (await zh.until("notice.posted"))[-1], (await en.until("notice.posted"))[-1]
        assert in_chinese.pop("show_content").startswith("状态")
        assert in_english.pop("show_content").startswith("Status")
        assert in_chinese == in_english
        zh.check(session_id)
        en.check(session_id)
        answer = await zh.ask("user.set_language", content="en", command_id="l")
        assert answer["metadata"] == {"command_id": "l", "seq": 0}
        await zh.send("user.message", content="/status")
        assert (await zh.until("notice.posted"))[-1]["show_content"].startswith("Status")
        await en.send("user.set_language", metadata={"language": "zh"})
        assert (await en.ask("user.retry"))["content"] == "没有失败的轮次可以重试"
        assert (await en.ask("user.set_language", language="fr"))["metadata"]["code"] == "bad_field"
    async with serve(tmp_path, SOLO) as server, server.client("&lang=xx") as peer:
        await peer.create()
        await peer.send("user.message", content="/status")
        assert (await peer.until("notice.posted"))[-1]["show_content"].startswith("Status")  # the team's language


@run
async def test_batches(tmp_path: Path) -> None:
    """With ?batch=1 frames that are ready come as one JSON array, in order, byte for byte as single ones."""
    async with serve(tmp_path) as server, server.client() as single:
        session_id = await single.create()
        head = await server.append(session_id, 700)
        await single.until_seq(head)
        async with server.client("&batch=1") as peer:
            await peer.send("user.reconnect", session_id=session_id)
            messages: list[str] = []
            while not messages or f'"seq":{head},' not in messages[-1]:
                messages.append(await peer.link.recv(decode=True))
            arrays = [json.loads(message) for message in messages if message.startswith("[")]
            assert len(messages) < 50
            assert sum(len(array) for array in arrays) >= head - 1
            assert max(len(array) for array in arrays) == 64
        async with server.client("&batch=1") as peer:
            await peer.resume(session_id, 0)
            await peer.until_seq(head)
            assert peer.lines[session_id] == single.lines[session_id]
        async with server.client("&batch=yes") as peer:  # only 1 means yes
            await peer.send("user.reconnect", session_id=session_id)
            assert {(await peer.link.recv(decode=True))[0] for _ in range(100)} == {"{"}


@run
async def test_heartbeats_and_greeting(tmp_path: Path) -> None:
    """system.connected tells the bounds; system.heartbeat comes at its pace, without a seq."""
    async with serve(tmp_path, heartbeat_s=0.5) as server, server.client() as peer:
        greeting = peer.frames[0]["metadata"]
        assert greeting["connection_id"].startswith("c_")
        assert greeting["protocol"] == 1
        assert greeting["heartbeat_s"] == 0.5
        assert greeting["limits"]["frame_bytes"] == 256 * 1024
        assert greeting["server_version"]
        started = asyncio.get_running_loop().time()
        beats = [await peer.next() for _ in range(2)]
        assert [beat["event"] for beat in beats] == ["system.heartbeat"] * 2
        assert beats[0].keys() == {"event", "timestamp", "metadata"}
        assert 0.5 <= asyncio.get_running_loop().time() - started < 2


@run
async def test_viewers_read_and_members_speak_as_themselves(tmp_path: Path) -> None:
    """A viewer only reads; a member speaks as that human and cannot sign as another; checked per message."""
    async with serve(tmp_path) as server, server.client() as owner:
        session_id = await owner.create()
        viewing, _ = server.issue(Role.VIEWER, session_id=session_id)
        speaking, token_id = server.issue(Role.MEMBER, session_id=session_id, member="alice")
        async with server.client(token=viewing) as viewer, server.client(token=speaking) as member:
            await viewer.resume(session_id, 0)
            await member.resume(session_id, 0)
            await viewer.next()
            await member.next()
            for event, fields in WRITES.items():
                refused = await viewer.ask(event, command_id=event, **fields)
                assert refused["event"] == "agent.error"
                assert refused["metadata"] == {"code": "forbidden", "retryable": False, "command_id": event}
            assert (await viewer.ask("user.create_session"))["metadata"]["code"] == "forbidden"
            assert (await member.ask("user.create_session"))["metadata"]["code"] == "forbidden"
            forged = await member.ask("user.message", content="[FROM: eve] [NEXT: alice] I am Eve", command_id="f")
            assert forged["metadata"] == {"code": "forbidden", "retryable": False, "command_id": "f"}
            await member.send("user.message", content="[NEXT: eve] it is me")
            shown = (await viewer.until("message.posted"))[-1]
            source = {"loop_id": "moot-orchestrator", "role": "user", "member": "alice", "token": token_id}
            assert shown["source"] == source
            assert (await viewer.ask("user.request_state"))["event"] == "agent.state_exported"
            await owner.send("user.message", content="[FROM: eve] [NEXT: alice] an owner may sign as anybody")
            assert (await viewer.until("message.posted"))[-1]["source"]["member"] == "eve"


@run
async def test_a_revoked_token(tmp_path: Path) -> None:
    """A token that is revoked while connected closes its connections with 4401, and no others."""
    async with serve(tmp_path) as server, server.client() as owner:
        session_id = await owner.create()
        token, token_id = server.issue(Role.MEMBER, session_id=session_id, member="alice")
        async with server.client(token=token) as one, server.client(token=token) as two:
            server.endpoint.close_token(token_id)
            assert await one.closed_with(1) == 4401
            assert await two.closed_with(1) == 4401
        assert (await owner.ask("user.request_state"))["event"] == "agent.state_exported"


@run
async def test_signed_states(tmp_path: Path) -> None:
    """An exported state brings its client back to its place, after a restart too; a changed one is refused."""
    async with serve(tmp_path, SOLO) as server, server.client() as peer:
        session_id = await peer.create()
        other = await peer.create()
        for _ in range(3):
            await peer.send("user.message", session_id=session_id, content="/status")
        exported = await peer.ask("user.request_state", session_id=session_id, command_id="e")
        assert exported["event"] == "agent.state_exported"
        assert exported["metadata"]["seq"] == 7
        assert exported["metadata"]["hash"] == (await server.app.log.head(session_id)).hash
        assert exported["metadata"]["state"]["status"]
        assert "seq" not in exported
        signed = exported["metadata"]["signed_state"]
    async with serve(tmp_path, SOLO) as server, server.client() as peer:
        head = await server.append(session_id, 2)
        await peer.send("user.reconnect_with_state", signed_state=signed)
        restored, connected = await peer.next(), await peer.next()
        assert restored["event"] == "agent.state_restored"
        assert restored["metadata"]["seq"] == 7
        assert connected["metadata"] == {"session_id": session_id, "resumed": True, "from": 8}
        assert [frame["seq"] for frame in await peer.until_seq(head)] == [8, 9]
        await peer.send("user.reconnect_with_state", signed_state=signed, last_seq=8, session_id=session_id)
        assert (await peer.until("system.connected"))[-1]["metadata"]["from"] == 9
        await peer.until_seq(head)
        payload, _, seal = signed.partition(".")
        wrong = [
            payload,
            f"{payload}.",
            f".{seal}",
            f"{payload[:-2]}AA.{seal}",
            f"{payload}.{seal[::-1]}",
            "",
            "ä",
            "x" * 5_000,
        ]
        for changed in wrong:
            answer = await peer.ask("user.reconnect_with_state", signed_state=changed, last_seq=1, command_id="w")
            assert answer["metadata"] == {"code": "bad_signed_state", "retryable": False, "command_id": "w"}
        mixed = await peer.ask("user.reconnect_with_state", signed_state=signed, session_id=other)
        assert mixed["metadata"]["code"] == "bad_signed_state"
        foreign, _ = server.issue(Role.VIEWER, session_id=other)
        async with server.client(token=foreign) as viewer:
            answer = await viewer.ask("user.reconnect_with_state", signed_state=signed)
            assert answer["metadata"]["code"] == "not_found"


@run
async def test_the_server_restarts(tmp_path: Path) -> None:
    """Everybody is closed with 1012, a client that does not read too, and nobody new is let in."""
    async with serve(tmp_path) as server, server.client() as one, server.client() as two:
        await one.create()
        closing = asyncio.create_task(server.endpoint.close())
        assert await one.closed_with(2) == 1012
        assert await two.closed_with(2) == 1012
        await closing
        assert server.counted("closes", code="1012") == 2


@run
async def test_a_session_that_is_removed(tmp_path: Path) -> None:
    """Who follows a session that is removed is told `not_found`; the connection goes on."""
    async with serve(tmp_path) as server, server.client() as peer:
        session_id = await peer.create()
        await server.app.log.delete(session_id)
        gone = await peer.next()
        assert (gone["event"], gone["session_id"]) == ("agent.error", session_id)
        assert gone["metadata"]["code"] == "not_found"
        await peer.create()

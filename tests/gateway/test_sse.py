"""Server-sent events: the same frames, resumed by cursor, ended cleanly."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from moot.core.session.principal import Principal, Role
from moot.gateway import sse
from moot.runtime.ports import Log
from tests.gateway.sites import OWNER, SOLO, Site, code_of, come_true, count, open_site, serve_site
from tests.runtime.apps import Puppet, run

VIEWER = Principal(token_id="t", role=Role.VIEWER)


class Sent(NamedTuple):
    id: str
    event: str
    frame: Any


@asynccontextmanager
async def stream(site: Site, session_id: str, token: str = OWNER, **headers: str) -> AsyncIterator["Stream"]:
    async with site.client(token, **headers) as client:
        client.timeout = httpx.Timeout(20.0)
        async with client.stream("GET", f"/api/sessions/{session_id}/stream") as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            assert "content-length" not in answer.headers
            yield Stream(answer)


class Stream:
    """Reads messages as `EventSource` does."""

    def __init__(self, answer: httpx.Response) -> None:
        self._lines = answer.aiter_lines()
        self.comments = 0

    async def next(self) -> Sent | None:
        """The next message; None at the end of the stream."""
        fields: dict[str, str] = {}
        async for line in self._lines:
            if line.startswith(":"):
                self.comments += 1
            elif line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "data" in fields:
                return Sent(fields.get("id", ""), fields["event"], json.loads(fields["data"]))
            else:
                fields.clear()
        return None

    async def take(self, count: int) -> list[Sent]:
        taken = [await self.next() for _ in range(count)]
        return [sent for sent in taken if sent]

    async def until(self, event: str) -> list[Sent]:
        taken = []
        while sent := await self.next():
            taken.append(sent)
            if sent.event == event:
                return taken
        raise AssertionError(f"the stream ended before {event}")


async def log_of(site: Site, session_id: str) -> list[Any]:
    async with site.client() as client:
        frames: list[Any] = (await client.get(f"/api/sessions/{session_id}/events")).json()
    return frames


@run
async def test_history_and_then_live(tmp_path: Path) -> None:
    """One message a frame: id is seq and hash, event its name, data the frame as everywhere; no hole, no double."""
    async with serve_site(tmp_path, SOLO) as site:
        session_id = await site.create()
        await site.command(session_id, "user.message", content="before anybody listens")
        async with stream(site, session_id) as live:
            first = await live.until("session.paused")
            await site.command(session_id, "user.message", content="[NEXT: bob] 你好\nsecond line")
            sent = first + await live.until("session.paused")
        frames = await log_of(site, session_id)
        assert [each.frame for each in sent] == frames[: len(sent)]
        for each in sent:
            assert (each.id, each.event) == (f"{each.frame['seq']}.{each.frame['hash'][:16]}", each.frame["event"])
        await come_true(lambda: count(site, "moot_streams") == 0)
        assert count(site, "moot_frames_sent_total") == len(sent)


@run
async def test_resuming_at_every_place(tmp_path: Path) -> None:
    """Behind every k the stream goes on at k+1, by event_id, by seq, by ?after=; the header counts more."""
    async with serve_site(tmp_path, SOLO) as site:
        session_id = await site.create()
        for _ in range(4):
            await site.command(session_id, "user.message", content="note")
        frames = await log_of(site, session_id)
        for after in range(len(frames)):
            hash_ = frames[after - 1]["hash"] if after else "0" * 64
            for cursor in (f"{session_id}-{after}", str(after), f"{after}.{hash_[:16]}"):
                async with stream(site, session_id, **{"last-event-id": cursor}) as live:
                    sent = await live.take(len(frames) - after)
                    assert [each.frame for each in sent] == frames[after:]
        async with site.client() as client:
            path = f"/api/sessions/{session_id}/stream?after=1"
            async with client.stream("GET", path, headers={"last-event-id": "3"}) as answer:
                sent_first = await Stream(answer).next()
        assert sent_first
        assert sent_first.frame["seq"] == 4


@run
async def test_divergence_is_told(tmp_path: Path) -> None:
    """A place with another hash, or beyond the head, is told as on a socket; the whole history follows."""
    async with serve_site(tmp_path, SOLO) as site:
        session_id = await site.create()
        await site.command(session_id, "user.message", content="note")
        frames = await log_of(site, session_id)
        for cursor, reason in ((f"2.{'0' * 16}", "diverged"), ("99", "ahead"), (f"99.{'0' * 16}", "ahead")):
            async with stream(site, session_id, **{"last-event-id": cursor}) as live:
                told, *sent = await live.take(1 + len(frames))
            metadata = {"session_id": session_id, "resumed": False, "reason": reason, "from": 1}
            assert (told.id, told.event, told.frame["metadata"]) == ("", "system.connected", metadata)
            assert [each.frame for each in sent] == frames


@pytest.mark.parametrize(
    "cursor",
    [
        "-1",
        "1.0",
        "true",
        "",
        "null",
        str(2**63),
        "s_0000000000000000-1",
        "{id}-",
        "{id}--1",
        "{id}-1x",
        "1.",
        "1.00",
        "1.0123456789ABCDEF",
    ],
)
def test_a_bad_cursor_is_refused(cursor: str, tmp_path: Path) -> None:
    """Also one of another session: waiting there would leave a hole."""

    @run
    async def check() -> None:
        async with open_site(tmp_path, SOLO) as site, site.client() as client:
            session_id = await site.create()
            answer = await client.get(
                f"/api/sessions/{session_id}/stream", headers=[("last-event-id", cursor.replace("{id}", session_id))]
            )
            assert (answer.status_code, code_of(answer)) == (400, "bad_cursor")

    check()


@run
async def test_a_run_is_followed_in_its_middle(tmp_path: Path) -> None:
    """Who comes while a turn runs gets its beginning from the log and its end live."""
    bob = Puppet()
    async with serve_site(tmp_path, SOLO, agents={"bob": bob}) as site:
        session_id = await site.create()
        await site.command(session_id, "user.message", content="[NEXT: bob] hi")
        await bob.is_called()
        async with stream(site, session_id) as live:
            await live.until("turn.started")
            bob.replies("live")
            sent = await live.until("session.paused")
            assert "turn.completed" in [each.event for each in sent]
        assert count(site, "moot_replays_total") == 1


@run
async def test_a_thousand_events_during_the_replay(tmp_path: Path) -> None:
    """The seam between history and live is exact."""
    async with serve_site(tmp_path, SOLO, message_burst=10_000) as site:
        session_id = await site.create()
        session = await site.app.session(session_id)

        async def write() -> None:
            for number in range(300):
                async for _ in session.say(f"note {number}"):
                    pass

        async with asyncio.TaskGroup() as tasks:
            writing = tasks.create_task(write())
            async with stream(site, session_id) as live:
                seqs = [sent.frame["seq"] for sent in await live.take(500)]
                await writing
                head = (await site.app.log.head(session_id)).seq
                seqs += [sent.frame["seq"] for sent in await live.take(head - 500)]
        assert seqs == list(range(1, head + 1))


@run
async def test_the_language_of_a_stream(tmp_path: Path) -> None:
    """?lang= chooses the text for people; without it the session's language."""
    async with serve_site(tmp_path, SOLO) as site:
        session_id = await site.create()
        await site.command(session_id, "user.message", content="[NEXT: dora] hi")
        for query, text in (("?lang=zh", "可用成员"), ("", "Available members")):
            async with (
                site.client() as client,
                client.stream("GET", f"/api/sessions/{session_id}/stream{query}") as answer,
            ):
                sent = await Stream(answer).until("notice.posted")
                assert text in sent[-1].frame["show_content"]


@run
async def test_quiet_streams_are_kept_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comment now and then, so that no proxy cuts the line."""
    assert sse.HEARTBEAT_S == 15.0
    monkeypatch.setattr(sse, "HEARTBEAT_S", 0.02)
    async with serve_site(tmp_path, SOLO) as site:
        session_id = await site.create()
        async with stream(site, session_id) as live:
            await live.next()
            asyncio.get_running_loop().call_later(
                0.2, lambda: asyncio.ensure_future(site.command(session_id, "user.message", content="at last"))
            )
            await live.next()
            assert live.comments >= 2


@run
async def test_streams_end_when_the_server_stops(tmp_path: Path) -> None:
    """The last chunk is sent, not cut, and the server waits for nobody."""
    async with asyncio.timeout(8), serve_site(tmp_path, SOLO) as site:
        session_id = await site.create()
        async with stream(site, session_id) as live:
            await live.next()
            await site.gateway.close()
            assert await live.next() is None
        async with stream(site, session_id) as live:  # who comes too late is sent away at once
            while await live.next():
                pass
    assert site.sockets.is_closed


@run
async def test_a_revoked_token_ends_its_streams(tmp_path: Path) -> None:
    """Within a second, also by expiry, and only its own; coming back is 401."""
    async with serve_site(tmp_path, SOLO) as site:
        session_id = await site.create()
        token, token_id = site.issue(Role.VIEWER)
        async with stream(site, session_id) as owners, stream(site, session_id, token) as viewers:
            await owners.next()
            await viewers.next()
            site.token_file.revoke(token_id)
            async with asyncio.timeout(1):
                assert await viewers.next() is None
            assert site.sockets.closed_tokens == [token_id]
            await site.command(session_id, "user.message", content="still there")
            assert await owners.next()
        async with site.client(token) as client:
            assert (await client.get(f"/api/sessions/{session_id}/stream")).status_code == 401


@run
async def test_a_removed_session_ends_its_streams(tmp_path: Path) -> None:
    """There is nothing more to follow, and then it is not there."""
    async with serve_site(tmp_path, SOLO) as site:
        session_id = await site.create()
        async with stream(site, session_id) as live:
            await live.next()
            await site.app.log.delete(session_id)
            assert await live.next() is None
        async with site.client() as client:
            assert (await client.get(f"/api/sessions/{session_id}/stream")).status_code == 404


@run
async def test_a_reader_that_does_not_read_is_dropped(tmp_path: Path) -> None:
    """Nobody may make the server hold on to more than its send buffer, or for longer than the timeout."""
    async with serve_site(tmp_path, SOLO, send_timeout_s=0.3) as site:
        session_id = await site.create()
        session = await site.app.session(session_id)
        link = socket.socket()
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # before connecting: later it is not announced
        link.connect(("127.0.0.1", site.settings.port))
        path = f"/api/sessions/{session_id}/stream?token={OWNER}"
        link.sendall(f"GET {path} HTTP/1.1\r\nHost: {site.host}\r\n\r\n".encode())
        await come_true(lambda: count(site, "moot_streams") == 1)
        for _ in range(30):
            async for _event in session.say("x" * 190_000):
                pass
        await come_true(lambda: count(site, "moot_streams") == 0)
        assert count(site, "moot_sends_timed_out_total") == 1
        link.close()
        async with stream(site, session_id) as live:  # others are served as before
            assert await live.next()


@run
async def test_a_server_of_another_kind_still_drops_slow_readers(tmp_path: Path) -> None:
    """The stream has a timeout of its own, for servers that have none."""
    async with open_site(tmp_path, SOLO) as site:
        session_id = await site.create()
        response = make_stream(site.app.log, session_id, site)
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)
            if len(sent) > 1:
                await asyncio.sleep(60)

        async def receive() -> Any:
            await asyncio.sleep(60)

        async with asyncio.timeout(5):
            await response({}, receive, send)
        assert count(site, "moot_sends_timed_out_total") == 1
        assert count(site, "moot_streams") == 0


def make_stream(log: Log, session_id: str, site: Site) -> sse.EventStream:
    return sse.EventStream(
        log,
        session_id,
        0,
        "en",
        streams=sse.Streams(),
        principal=VIEWER,
        metrics=site.metrics,
        send_timeout_s=0.05,
    )

"""What one principal may use: the same bounds on every transport, counted together.

TABLE is the contract: a bound that is not tried on a transport needs a reason there, and every case it names is run.
"""

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, MutableMapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import websockets

import moot
from moot.client.rest import ANSWER_BYTES
from moot.core import limits
from moot.core.session.principal import Role
from moot.gateway import workers
from moot.gateway.bounds import OWNER_FACTOR
from moot.gateway.replies import PIECE_BYTES, in_pieces
from moot.gateway.settings import GatewaySettings
from moot.protocol.worker_frames import Renewed
from moot.runtime.snapshots import load_state
from moot.runtime.worker_jobs import WorkerCard
from tests.gateway.server import run, until
from tests.gateway.sites import DUO, OWNER, SOLO, Site, code_of, events, open_site, serve_site
from tests.gateway.sockets import socket_client

TRANSPORTS = ("websocket", "sse", "rest", "export", "upload", "download", "worker")
BOUNDS = ("streams of a principal", "streams in all", "messages", "reads", "bytes", "exports at a time")

LONG = b"x" * (PIECE_BYTES + 1)

Play = Callable[[Site, str, str], Coroutine[Any, Any, None]]  # site, token of a viewer or member, session


@asynccontextmanager
async def open_stream(site: Site, token: str, session_id: str, transport: str) -> AsyncIterator[str | None]:
    """Open something that stays open; yield the code of the refusal, or None."""
    async with AsyncExitStack() as stack:
        if transport == "websocket":
            try:
                await stack.enter_async_context(socket_client(site, token))
            except websockets.InvalidStatus as refused:
                yield {429: "too_many_streams", 503: "server_full"}[refused.response.status_code]
                return
            yield None
            return
        client = await stack.enter_async_context(site.client(token))
        if transport == "upload":
            answer = await client.post(f"/api/sessions/{session_id}/files", content=b"notes")
            yield None if answer.status_code == 201 else code_of(answer)
            return
        digest = (await site.app.files.put(session_id, LONG, "notes.txt")).sha256
        path = {"sse": "stream", "export": "export", "download": f"files/{digest}"}[transport]
        answer = await stack.enter_async_context(client.stream("GET", f"/api/sessions/{session_id}/{path}"))
        if answer.status_code == 200:
            yield None
            return
        await answer.aread()
        yield code_of(answer)


def streams_are_counted(transport: str) -> Play:
    async def play(site: Site, token: str, session_id: str) -> None:
        """One of each transport fills the allowance of two; a third is refused; when one ends there is room again."""
        async with open_stream(site, token, session_id, "websocket") as first:
            async with open_stream(site, token, session_id, "sse") as second:
                assert (first, second) == (None, None)
                async with open_stream(site, token, session_id, transport) as third:
                    assert third == "too_many_streams"
                async with open_stream(site, OWNER, session_id, transport) as owners:
                    assert owners is None
            async with asyncio.timeout(30):
                while True:
                    async with open_stream(site, token, session_id, transport) as again:
                        if again is None:
                            break

    return play


def all_streams_are_counted(transport: str) -> Play:
    async def play(site: Site, token: str, session_id: str) -> None:
        """Four of different principals and transports fill the server; one more of anybody is refused."""
        async with AsyncExitStack() as stack:
            for who, kind in ((token, "sse"), (token, "websocket"), (OWNER, "sse"), (OWNER, "websocket")):
                assert await stack.enter_async_context(open_stream(site, who, session_id, kind)) is None
            assert await stack.enter_async_context(open_stream(site, OWNER, session_id, transport)) == "server_full"

    return play


async def messages_by_socket(site: Site, token: str, session_id: str) -> None:
    """Two connections and REST share the rate of their principal; the owner has its own."""
    codes: list[str] = []
    async with socket_client(site, token) as one, socket_client(site, token) as two:
        for peer in (one, two, one, two):
            answer = await peer.ask("user.rename", session_id=session_id, title="x", command_id=f"c{len(codes)}")
            codes.append(answer["metadata"].get("code", "accepted"))
    assert codes == ["accepted"] * 3 + ["rate_limited"]
    refused = await site.command(session_id, "user.pause", token=token)
    assert (refused.status_code, code_of(refused)) == (429, "rate_limited")
    assert (await site.command(session_id, "user.rename", title="y")).status_code == 200


async def messages_by_rest(site: Site, token: str, session_id: str) -> None:
    answers = [await site.command(session_id, "user.rename", title="x", token=token) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[-1].json()["metadata"]["retryable"] is True
    assert answers[-1].headers["retry-after"] == "1"


def reads_by(path: str) -> Play:
    async def play(site: Site, token: str, session_id: str) -> None:
        """After the burst a read is refused, whatever it reads; the owner's are counted apart."""
        async with site.client(token) as client, site.client() as owner:
            for _ in range(20):
                assert (await client.get("/api/me")).status_code == 200
            async with client.stream("GET", path.format(session_id)) as answer:
                await answer.aread()
                assert (answer.status_code, code_of(answer)) == (429, "rate_limited")
            assert (await owner.get("/api/me")).status_code == 200

    return play


async def bytes_by_socket(site: Site, token: str, session_id: str) -> None:
    async with socket_client(site, token) as peer:
        text = "x" * 15_000
        first = await peer.ask("user.message", session_id=session_id, content=text, command_id="a")
        second = await peer.ask("user.message", session_id=session_id, content=text, command_id="b")
    assert first["event"] == "system.accepted"
    assert second["metadata"] == {"code": "too_many_bytes", "retryable": True, "command_id": "b"}


async def bytes_by_rest(site: Site, token: str, session_id: str) -> None:
    answers = [await site.command(session_id, "user.message", content="x" * 15_000, token=token) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]
    assert code_of(answers[1]) == "too_many_bytes"


async def bytes_by_upload(site: Site, token: str, session_id: str) -> None:
    """They are counted before they are read: by their declared number or, without one, as they come."""

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b"x" * 7_000

    path = f"/api/sessions/{session_id}/files"
    async with site.client(token) as client:
        assert (await client.post(path, content=b"x" * 10_000)).status_code == 201
        for content in (b"x" * 15_000, pieces()):
            answer = await client.post(path, content=content)
            assert (answer.status_code, code_of(answer)) == (429, "too_many_bytes")


async def messages_by_upload(site: Site, token: str, session_id: str) -> None:
    async with site.client(token) as client:
        answers = [await client.post(f"/api/sessions/{session_id}/files", content=b"notes") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [201, 201, 201, 429]


async def close_of_worker(site: Site, token: str) -> int:
    """Connect as a worker that says nothing; return with which code that ends."""
    async with websockets.connect(f"ws://{site.host}/worker?token={token}") as link:
        with pytest.raises(websockets.ConnectionClosed) as ended:
            await link.recv()
    assert ended.value.rcvd
    return ended.value.rcvd.code


async def workers_are_counted(site: Site, token: str, session_id: str) -> None:
    """A connection counts from its beginning: also while it has not said hello."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "WORKERS", 1)
        worker, _ = site.issue(Role.WORKER)
        async with websockets.connect(f"ws://{site.host}/worker?token={worker}"):
            assert await close_of_worker(site, worker) == 1012


async def one_export(site: Site, token: str, session_id: str) -> None:
    """A second export of the same principal waits for the first; others need not."""
    with site.bounds.export(site.principal(token)):
        async with site.client(token) as client, site.client() as owner:
            answer = await client.get(f"/api/sessions/{session_id}/export")
            assert (answer.status_code, code_of(answer)) == (429, "export_running")
            assert (await owner.get(f"/api/sessions/{session_id}/export")).status_code == 200
    async with site.client(token) as client:
        assert (await client.get(f"/api/sessions/{session_id}/export")).status_code == 200


NO_BODY = "has no body: it is one GET"
TABLE: dict[tuple[str, str], Play | str] = {
    ("websocket", "streams of a principal"): streams_are_counted("websocket"),
    ("websocket", "streams in all"): all_streams_are_counted("websocket"),
    ("websocket", "messages"): messages_by_socket,
    ("websocket", "reads"): "reading over a socket is a message, and the log is sent as fast as it is taken",
    ("websocket", "bytes"): bytes_by_socket,
    ("websocket", "exports at a time"): "no frame asks for an export",
    ("sse", "streams of a principal"): streams_are_counted("sse"),
    ("sse", "streams in all"): all_streams_are_counted("sse"),
    ("sse", "messages"): "carries none to the server",
    ("sse", "reads"): reads_by("/api/sessions/{}/stream"),
    ("sse", "bytes"): NO_BODY,
    ("sse", "exports at a time"): "is not an export",
    (
        "rest",
        "streams of a principal",
    ): "is answered at once, in one piece; what is not, an export, an upload or a long answer, has its row",
    ("rest", "streams in all"): "the same",
    ("rest", "messages"): messages_by_rest,
    ("rest", "reads"): reads_by("/api/sessions/{}/events"),
    ("rest", "bytes"): bytes_by_rest,
    ("rest", "exports at a time"): "has its own row",
    ("export", "streams of a principal"): streams_are_counted("export"),
    ("export", "streams in all"): all_streams_are_counted("export"),
    ("export", "messages"): "sends none",
    ("export", "reads"): reads_by("/api/sessions/{}/export"),
    ("export", "bytes"): NO_BODY,
    ("export", "exports at a time"): one_export,
    ("upload", "streams of a principal"): streams_are_counted("upload"),
    ("upload", "streams in all"): all_streams_are_counted("upload"),
    ("upload", "messages"): messages_by_upload,
    ("upload", "reads"): "reads nothing",
    ("upload", "bytes"): bytes_by_upload,
    ("upload", "exports at a time"): "is not an export",
    ("download", "streams of a principal"): streams_are_counted("download"),
    ("download", "streams in all"): all_streams_are_counted("download"),
    ("download", "messages"): "sends none",
    ("download", "reads"): reads_by(f"/api/sessions/{{}}/files/{'0' * 64}"),
    ("download", "bytes"): NO_BODY,
    ("download", "exports at a time"): "is not an export",
    ("worker", "streams of a principal"): "one token is for a fleet of them; all together are bounded",
    ("worker", "streams in all"): workers_are_counted,
    ("worker", "messages"): "a report is read when there is room to log it: gateway/workers.py: REPORTS",
    ("worker", "reads"): "gets what its jobs need",
    ("worker", "bytes"): "a frame is bounded, and with it what REPORTS of them hold",
    ("worker", "exports at a time"): "no frame asks for an export",
}
TIGHT: dict[str, dict[str, Any]] = {
    "streams of a principal": {"connections_per_user": 2},
    "streams in all": {"connections": 4},
    "messages": {"message_burst": 3, "messages_per_s": 0.001},
    "reads": {"read_burst": 20, "reads_per_s": 0.001},
    "bytes": {"byte_burst": 20_000, "bytes_per_s": 0.001},
    "exports at a time": {},
}


def test_every_cell_of_the_table_is_filled() -> None:
    """Each bound holds on each transport, or the table says why it has no meaning there."""
    empty = [(transport, bound) for transport in TRANSPORTS for bound in BOUNDS if not TABLE.get((transport, bound))]
    assert empty == []
    assert len(TABLE) == len(TRANSPORTS) * len(BOUNDS)


@pytest.mark.parametrize("cell", [cell for cell, play in TABLE.items() if not isinstance(play, str)], ids=" ".join)
@run
async def test_a_bound_on_a_transport(tmp_path: Path, cell: tuple[str, str]) -> None:
    """The case that the table names for this cell."""
    play = TABLE[cell]
    assert not isinstance(play, str)
    async with serve_site(tmp_path, SOLO, has_sockets=True, **TIGHT[cell[1]]) as site:
        session_id = await site.create()
        token, _ = site.issue(Role.MEMBER, session_id=session_id, member="alice")
        await play(site, token, session_id)


@run
async def test_an_owner_may_use_more(tmp_path: Path) -> None:
    """Several programs and browsers of one person share the owner's token: four times the streams and rates."""
    settings = GatewaySettings()
    assert settings.connections_of_owner == OWNER_FACTOR * settings.connections_per_user == 32
    async with open_site(tmp_path, message_burst=2, messages_per_s=0.001) as site:
        session_id = await site.create()
        answers = [await site.command(session_id, "user.rename", title="x") for _ in range(2 * OWNER_FACTOR)]
        assert [answer.status_code for answer in answers] == [200] * (2 * OWNER_FACTOR - 1) + [429]


@run
async def test_what_only_looks_like_an_ack_is_not_cheap(tmp_path: Path) -> None:
    """The event counts, not a text somewhere in the frame: a burst of such commands is refused like any other."""
    async with serve_site(tmp_path, SOLO, has_sockets=True, messages_per_s=0.001) as site:
        session_id = await site.create()
        async with socket_client(site, OWNER) as peer:
            for number in range(60):
                frame = {"x": "user.ack", "event": "user.rename", "session_id": session_id, "title": f"t{number}"}
                await peer.link.send(json.dumps(frame))
            assert await peer.closed_with() == 4429
        renamed = [frame for frame in await events(site, session_id) if frame["event"] == "session.renamed"]
        assert len(renamed) <= site.settings.message_burst


@run
async def test_uploads_that_do_not_end_are_few(tmp_path: Path) -> None:
    """A client that declares a file and sends it slowly holds a place like any stream, until it leaves."""
    async with serve_site(tmp_path, SOLO, has_sockets=True, connections_per_user=2) as site:
        session_id = await site.create()
        token, _ = site.issue(Role.MEMBER, session_id=session_id, member="alice")
        head = (
            f"POST /api/sessions/{session_id}/files HTTP/1.1\r\nHost: {site.host}\r\n"
            f"Authorization: Bearer {token}\r\nContent-Length: 1000\r\n\r\nx"
        )
        links = [await asyncio.open_connection("127.0.0.1", site.settings.port) for _ in range(3)]
        for _, writer in links:
            writer.write(head.encode())
        answers = [asyncio.ensure_future(reader.readline()) for reader, _ in links]
        async with asyncio.timeout(30):
            (answered,), waiting = await asyncio.wait(answers, return_when=asyncio.FIRST_COMPLETED)
        assert answered.result() == b"HTTP/1.1 429 Too Many Requests\r\n"
        for _, writer in links:
            writer.close()
        await asyncio.gather(*waiting)
        await until(lambda: not site.bounds._streams)


@run
async def test_downloads_that_are_not_read_are_few(tmp_path: Path) -> None:
    """A client that asks for files and takes none of them holds a place for each, until it leaves."""
    async with serve_site(tmp_path, SOLO, has_sockets=True, connections_per_user=2) as site:
        session_id = await site.create()
        token, _ = site.issue(Role.VIEWER, session_id=session_id)
        digest = (await site.app.files.put(session_id, b"x" * limits.FILE_BYTES, "notes.txt")).sha256
        head = (
            f"GET /api/sessions/{session_id}/files/{digest} HTTP/1.1\r\nHost: {site.host}\r\n"
            f"Authorization: Bearer {token}\r\n\r\n"
        )
        links = []
        for _ in range(3):
            link = socket.socket()
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)  # so that the kernel does not read for it
            link.connect(("127.0.0.1", site.settings.port))
            link.sendall(head.encode())
            links.append(link)
        async with asyncio.timeout(30):
            answers = [await asyncio.to_thread(link.recv, 12) for link in links]
        assert sorted(answers) == [b"HTTP/1.1 200", b"HTTP/1.1 200", b"HTTP/1.1 429"]
        assert site.bounds._streams.total() == 2
        for link in links:
            link.close()
        await until(lambda: not site.bounds._streams)


@run
async def test_a_long_answer_is_handed_over_in_pieces() -> None:
    """No more than one piece waits for a client; together they are the answer."""
    sent: list[Any] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    for size in (0, 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES):
        sent.clear()
        body = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
        await in_pieces(send)({"type": "http.response.start", "status": 200, "headers": []})
        await in_pieces(send)({"type": "http.response.body", "body": body, "more_body": False})
        start, *pieces = sent
        assert start == {"type": "http.response.start", "status": 200, "headers": []}
        assert b"".join(piece["body"] for piece in pieces) == body
        assert max(len(piece["body"]) for piece in pieces) <= PIECE_BYTES
        assert [piece["more_body"] for piece in pieces] == [True] * (len(pieces) - 1) + [False]


@run
async def test_what_takes_its_time_counts_as_a_stream(tmp_path: Path) -> None:
    """An earlier state folds the log, changes ask git, a page of the log or this document is long; the state is not."""
    async with open_site(tmp_path, SOLO, connections_per_user=1) as site:
        session_id = await site.create()
        token, _ = site.issue(Role.VIEWER, session_id=session_id)
        path = f"/api/sessions/{session_id}"
        async with site.client(token) as client:
            with site.bounds.stream(site.principal(token)):
                changes = (f"{path}/changes", f"{path}/diff?path=x")
                for slow in (f"{path}?at=1", *changes, f"{path}/events", "/api/openapi.json"):
                    answer = await client.get(slow)
                    assert (answer.status_code, code_of(answer)) == (429, "too_many_streams")
                assert (await client.get(path)).status_code == 200
            assert (await client.get(path, params={"at": 1})).status_code == 200


@run
async def test_logging_in_is_a_message(tmp_path: Path) -> None:
    """Each login is written to disk, so that nobody may start any number of them with one token."""
    async with open_site(tmp_path, SOLO, message_burst=3, messages_per_s=0.001) as site:
        token, _ = site.issue(Role.VIEWER)
        async with site.client(None) as client:
            answers = [await client.post("/api/login", json={"token": token}) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert code_of(answers[-1]) == "rate_limited"


@run
async def test_refused_clients_do_not_fill_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A client that is refused, or sends what is no text or no request, leaves no line in the server's log."""
    caplog.set_level(logging.WARNING)
    async with serve_site(tmp_path, SOLO, has_sockets=True, connections=1) as site:
        for garbage in (b"\x16\x03\x01 no request\r\n\r\n", b"GET / HTTP/1.1\nHost: x\n\n"):
            reader, writer = await asyncio.open_connection("127.0.0.1", site.settings.port)
            writer.write(garbage)
            assert (await reader.readline()).startswith(b"HTTP/1.1 400")
            writer.close()
        async with socket_client(site, OWNER):
            for _ in range(5):
                with pytest.raises(websockets.InvalidStatus) as refused:
                    await socket_client(site, OWNER).__aenter__()
                assert refused.value.response.status_code == 503
                assert "try again" in (refused.value.response.body or b"").decode()
        for _ in range(5):
            async with asyncio.timeout(30):
                while True:
                    try:
                        async with socket_client(site, OWNER) as peer:
                            await peer.link.send(b"\xff\xfe", text=True)
                            assert await peer.closed_with() == 1007
                        break
                    except websockets.InvalidStatus:
                        await asyncio.sleep(0.01)  # the one before is still being closed
    assert [record.getMessage() for record in caplog.records if record.name.startswith(("uvicorn", "moot"))] == []


@run
async def test_a_page_of_the_log_is_bounded_in_bytes(tmp_path: Path) -> None:
    """A page ends with the event that reaches the bound; asking on gives the rest, without a hole."""
    async with open_site(tmp_path, SOLO, page_bytes=50_000) as site:
        session_id = await site.create()
        for _ in range(5):
            await site.command(session_id, "user.message", content="x" * 30_000)
        head = (await site.app.log.head(session_id)).seq
        frames: list[Any] = []
        pages = 0
        while page := await events(site, session_id, after=len(frames)):
            assert sum(len(json.dumps(frame)) for frame in page[:-1]) < 50_000
            frames += page
            pages += 1
        assert [frame["seq"] for frame in frames] == list(range(1, head + 1))
        assert pages > 2


@run
async def test_pages_of_the_log_do_not_fold_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The language of a session is found out once, and again when the session has gone on."""
    loads: list[str] = []
    async with open_site(tmp_path, SOLO) as site:
        session_id = await site.create()

        async def load(log: Any, which: str, *rest: Any) -> Any:
            loads.append(which)
            return await load_state(log, which, *rest)

        monkeypatch.setattr("moot.gateway.rest.load_state", load)
        for _ in range(5):
            await events(site, session_id, limit=1)
        assert len(loads) == 1
        await site.command(session_id, "user.message", content="/lang zh")
        [changed] = [frame for frame in await events(site, session_id) if frame["event"] == "session.language_changed"]
        assert changed
        assert len(loads) == 2


@run
async def test_the_list_of_sessions_comes_in_pages(tmp_path: Path) -> None:
    """Each page names where the next one begins; together they are every session once, the last active first."""
    async with serve_site(tmp_path, SOLO, has_sockets=True, message_burst=1_000) as site:
        made = [await site.create() for _ in range(7)]
        async with site.client() as client:
            whole = [entry["session_id"] for entry in (await client.get("/api/sessions")).json()]
            assert "moot-next" not in (await client.get("/api/sessions")).headers
            listed: list[str] = []
            query: dict[str, Any] = {"limit": 3}
            sizes = []
            while True:
                answer = await client.get("/api/sessions", params=query)
                sizes.append(len(answer.json()))
                listed += [entry["session_id"] for entry in answer.json()]
                if "moot-next" not in answer.headers:
                    break
                query["before"] = answer.headers["moot-next"]
        assert (listed, sizes) == (whole, [3, 3, 1])
        assert sorted(listed) == sorted(made)


@run
async def test_a_client_reads_every_page_of_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`client.sessions()` gives all sessions, however many pages they are."""
    monkeypatch.setattr("moot.gateway.rest.LISTED", 3)
    async with serve_site(tmp_path, SOLO, has_sockets=True, message_burst=1_000) as site:
        made = [await site.create() for _ in range(7)]
        async with moot.connect(site.url, OWNER) as client:
            assert sorted(entry["session_id"] for entry in await client.sessions()) == sorted(made)


@run
async def test_a_token_for_one_session_sees_no_more(tmp_path: Path) -> None:
    """Neither other teams and their members, nor the totals of the server."""
    async with open_site(tmp_path, DUO, SOLO) as site:
        session_id = await site.create("solo")
        viewer, _ = site.issue(Role.VIEWER, session_id=session_id)
        everywhere, _ = site.issue(Role.VIEWER)
        async with site.client(viewer) as limited, site.client(everywhere) as monitor:
            assert [team["name"] for team in (await limited.get("/api/teams")).json()] == ["solo"]
            assert (await limited.get("/metrics")).status_code == 403
            assert [team["name"] for team in (await monitor.get("/api/teams")).json()] == ["duo", "solo"]
            assert (await monitor.get("/metrics")).status_code == 200
        elsewhere, _ = site.issue(Role.VIEWER, session_id="s_0000000000000000")
        async with site.client(elsewhere) as nobody:
            assert (await nobody.get("/api/teams")).json() == []


@run
async def test_an_export_is_written_in_pieces_while_others_are_served(tmp_path: Path) -> None:
    """A long session is exported chunk by chunk; the loop is free between them, and the file is the whole session."""
    async with serve_site(tmp_path, SOLO) as site:
        session_id = await site.create()
        session = await site.app.session(session_id)
        for number in range(150):
            async for _ in session.say(f"message {number}"):
                pass
        pieces: list[bytes] = []
        path = f"/api/sessions/{session_id}/export"
        async with site.client() as client, site.client() as other, client.stream("GET", path) as answer:
            assert "content-length" not in answer.headers
            async for piece in answer.aiter_raw():
                pieces.append(piece)
                assert (await other.get("/api/me")).status_code == 200
        page = b"".join(pieces).decode()
        assert len(pieces) > 3
        assert page.endswith("</html>\n")
        assert [f"message {number}</p>" in page for number in range(150)] == [True] * 150
        head = (await site.app.log.head(session_id)).seq
        assert page.count("<tr>") == head


def test_answers_are_small_enough_for_clients() -> None:
    """A page of the log, at its largest, fits what `moot.connect` reads."""
    assert GatewaySettings().page_bytes + GatewaySettings().frame_bytes < ANSWER_BYTES


@run
async def test_a_worker_says_hello_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that does not say who it is ends."""
    monkeypatch.setattr(workers, "HELLO_S", 0.01)
    async with serve_site(tmp_path, SOLO, has_sockets=True) as site:
        assert await close_of_worker(site, site.issue(Role.WORKER)[0]) == 4400


@run
async def test_a_worker_that_does_not_read_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits for it is bounded."""
    monkeypatch.setattr(workers, "UNREAD", 3)
    link = workers.ServerLink(WorkerCard(id="t/w", name="w", pools=("p",), teams=("solo",), at_once=1), "t")
    for number in range(5):
        link.send(Renewed(number=number))
    sent: list[Any] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    with pytest.raises(workers._Gone):
        await link.write(send)
    assert (len(sent), link.code) == (3, workers.SLOW)

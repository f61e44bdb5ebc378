"""What REST refuses: a stable code, a sentence, a fitting status."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import Conflict, StorageFull
from moot.core.session.principal import Role
from moot.gateway import bodies
from tests.gateway.sites import OWNER, code_of, events, open_site, serve_site
from tests.runtime.apps import run

NOWHERE = "s_0000000000000000"


@pytest.mark.parametrize("cursor", ["-1", "4.0", "true", '"4"', str(2**63), "null", "", " 1", "1e3", "٣", "0x1"])
def test_a_bad_cursor_is_refused(cursor: str, tmp_path: Path) -> None:
    """Fail closed, never from 0 by accident."""

    @run
    async def check() -> None:
        async with open_site(tmp_path) as site, site.client() as client:
            session_id = await site.create("solo")
            for path in ("events", "stream"):
                answer = await client.get(f"/api/sessions/{session_id}/{path}", params={"after": cursor})
                assert (answer.status_code, code_of(answer)) == (400, "bad_cursor")
            answer = await client.get(f"/api/sessions/{session_id}/events", params={"limit": cursor})
            assert (answer.status_code, code_of(answer)) == (400, "bad_field")

    check()


@run
async def test_unknown_foreign_and_malformed_sessions_look_alike(tmp_path: Path) -> None:
    """The same 404 with the same body, on every path and for every id that is not yours."""
    async with open_site(tmp_path) as site:
        mine, foreign = await site.create("solo"), await site.create("solo")
        token, _ = site.issue(Role.OWNER, session_id=mine)
        ids = [
            foreign,
            NOWHERE,
            "x",
            "s_" + "a" * 80,
            "S_UPPERCASE1",
            "..%5c..%5cmoot.db",
            "%00%00%00%00%00%00%00%00",
            "CON",
        ]
        async with site.client(token) as client:
            assert (await client.get(f"/api/sessions/{mine}")).status_code == 200
            assert (await client.get("/api/sessions/..%2f..%2fmoot.db/events")).status_code == 404
            bodies_seen = set()
            for session_id in ids:
                for method, path in (("GET", ""), ("GET", "/events"), ("GET", "/stream"), ("POST", "/commands")):
                    answer = await client.request(
                        method,
                        f"/api/sessions/{session_id}{path}",
                        content='{"event":"user.end"}' if path[1:2] == "c" else None,
                    )
                    assert answer.status_code == 404, (session_id, path)
                    bodies_seen.add(json.dumps({**answer.json(), "timestamp": ""}))
            assert len(bodies_seen) == 1
            assert (await client.get("/api/sessions")).json()[0]["session_id"] == mine
            assert len((await client.get("/api/sessions")).json()) == 1


@run
async def test_frames_that_cannot_be_taken(tmp_path: Path) -> None:
    """A stable code, a sentence, a fitting status; the session does not change."""
    async with open_site(tmp_path) as site, site.client() as client:
        session_id = await site.create("solo")
        deep = '{"event":"user.message","content":' + "[" * 100_000 + "]" * 100_000 + "}"
        for body, status, code in (
            ("", 400, "bad_json"),
            ("[]", 400, "bad_json"),
            ("{", 400, "bad_json"),
            (deep, 400, "bad_json"),
            ('{"event":"user.message","event":"user.end"}', 400, "bad_json"),
            ('{"event":"user.message","content":NaN}', 400, "bad_json"),
            ('{"event":"user.message","content":"\\ud800"}', 400, "bad_json"),
            (b'{"event":"user.message","content":"\xff"}', 400, "bad_json"),
            ("{}", 400, "unknown_event"),
            ('{"event":"system.exec"}', 400, "unknown_event"),
            ('{"event":"user.message","command_id":7}', 400, "bad_field"),
            ('{"event":"user.response"}', 400, "missing_step_id"),
            ('{"event":"user.queue","action":"burn"}', 400, "bad_field"),
            ('{"event":"user.message","session_id":"s_1234567890"}', 400, "bad_field"),
            ('{"event":"user.message","content":""}', 409, "empty_message"),
            ('{"event":"user.response","step_id":"x","confirmed":true}', 409, "unknown_step"),
            ('{"event":"user.retry"}', 409, "nothing_to_retry"),
            ('{"event":"user.replan"}', 409, "not_in_this_flow"),
            ('{"event":"user.create_session"}', 409, "not_in_this_flow"),
        ):
            answer = await client.post(f"/api/sessions/{session_id}/commands", content=body)
            assert (answer.status_code, code_of(answer)) == (status, code), body[:60]
            assert answer.json()["content"]
            assert answer.json()["metadata"]["retryable"] is False
        assert len(await events(site, session_id)) == 1


@run
async def test_unknown_fields_name_nothing_to_run(tmp_path: Path) -> None:
    """A frame with commands, paths, URLs or environments in it is a message like any other."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("solo")
        answer = await site.command(
            session_id,
            "user.message",
            content="hi",
            command=["sh"],
            cwd="/",
            env={"A": "b"},
            url="http://x",
            agent={"type": "cli"},
        )
        assert answer.status_code == 200
        assert "cli" not in json.dumps(await events(site, session_id))


@run
async def test_bodies_are_bounded_while_they_are_read(tmp_path: Path) -> None:
    """413 at the announced or the real size; what is just small enough is taken."""
    async with open_site(tmp_path, frame_bytes=1_000) as site, site.client() as client:
        path = f"/api/sessions/{await site.create('solo')}/commands"
        fits = json.dumps({"event": "user.message", "content": "x" * 900}).encode()
        assert (await client.post(path, content=fits)).status_code == 200
        chunks_taken = 0

        async def endless() -> Any:
            nonlocal chunks_taken
            while True:
                chunks_taken += 1
                yield b" " * 100

        for content in (fits + b" " * 1000, endless()):
            answer = await client.post(path, content=content)
            assert (answer.status_code, code_of(answer)) == (413, "too_large")
        assert chunks_taken < 20


@run
async def test_a_body_that_does_not_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that trickles is given up."""
    monkeypatch.setattr(bodies, "BODY_TIMEOUT_S", 0.05)

    async with serve_site(tmp_path) as site:
        reader, writer = await asyncio.open_connection("127.0.0.1", site.settings.port)
        head = f"POST /api/sessions HTTP/1.1\r\nHost: {site.host}\r\nAuthorization: Bearer {OWNER}\r\n"
        writer.write(f"{head}Content-Length: 10\r\n\r\n{{".encode())
        assert b" 408 " in await reader.readline()
        writer.close()


@run
async def test_too_many_commands(tmp_path: Path) -> None:
    """429 after the burst, and it may be tried again; others are not affected, reading is not either."""
    async with open_site(tmp_path, message_burst=2, messages_per_s=0.001) as site:
        session_id = await site.create("solo")
        other, _ = site.issue(Role.OWNER)
        answers = [await site.command(session_id, "user.pause") for _ in range(13)]
        limited = [answer for answer in answers if answer.status_code == 429]
        assert len(limited) == 6
        assert code_of(limited[0]) == "rate_limited"
        assert limited[0].json()["metadata"]["retryable"] is True
        assert (await site.command(session_id, "user.message", content="hi", token=other)).status_code == 200
        assert len(await events(site, session_id)) > 1


@pytest.mark.parametrize(
    ("error", "code"),
    [(StorageFull("full"), "storage_full"), (Conflict("again"), "unavailable"), (OSError("x"), "internal")],
)
def test_a_log_that_cannot_be_written(
    error: Exception, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """503 and retryable when the disk is full; what nobody foresaw is 500; reading still works."""

    @run
    async def check() -> None:
        async with open_site(tmp_path) as site:
            session_id = await site.create("solo")

            async def fail(*args: object, **options: object) -> None:
                raise error

            monkeypatch.setattr(site.app.log, "append", fail)
            answer = await site.command(session_id, "user.message", content="hi", command_id="c")
            assert (answer.status_code, code_of(answer)) == (500 if code == "internal" else 503, code)
            assert answer.json()["metadata"]["retryable"] is True
            assert len(await events(site, session_id)) == 1
            monkeypatch.undo()

    check()


@run
async def test_errors_speak_the_readers_language(tmp_path: Path) -> None:
    """?lang=, else Accept-Language, else the session's or the team's."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("solo")
        for lang, accepted, chinese in (
            ("zh", "", True),
            ("en", "zh", False),
            ("", "fr, zh-CN;q=0.9, en", True),
            ("", "", False),
        ):
            async with site.client(OWNER, **{"accept-language": accepted}) as client:
                answer = await client.post(
                    f"/api/sessions/{session_id}/commands", params={"lang": lang}, json={"event": "user.retry"}
                )
                assert ("没有" in answer.json()["content"]) is chinese
                refused = await client.post("/api/sessions", params={"lang": lang}, json={"team": "x"})
                assert ("没有" in refused.json()["content"]) is chinese


@run
async def test_methods_that_are_not_there(tmp_path: Path) -> None:
    """405 for a known path, and HEAD wherever there is GET."""
    async with open_site(tmp_path) as site, site.client() as client:
        assert (await client.delete("/api/sessions")).status_code == 405
        assert (await client.put("/")).status_code == 405
        head = await client.head("/api/teams")
        assert (head.status_code, head.content) == (200, b"")

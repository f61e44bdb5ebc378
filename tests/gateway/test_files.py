"""Files over HTTP: who may upload and read them, what is taken, and how they are served."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

import moot
from moot.core import limits
from moot.core.errors import Refused
from moot.core.session.events import MessagePosted
from moot.core.session.principal import Role
from tests.files import BYTES, GIF, PAGE, PDF, PNG, sha256
from tests.gateway.server import run as run_server
from tests.gateway.sites import OWNER, Site, code_of, events, open_site, serve_site
from tests.runtime.apps import facts, has, run


async def upload(site: Site, session_id: str, data: bytes, name: str = "a.png", token: str = OWNER) -> httpx.Response:
    async with site.client(token) as client:
        return await client.post(f"/api/sessions/{session_id}/files", params={"name": name}, content=data)


async def fetch(site: Site, session_id: str, digest: str, token: str = OWNER, **query: Any) -> httpx.Response:
    async with site.client(token) as client:
        return await client.get(f"/api/sessions/{session_id}/files/{digest}", params=query)


@run
async def test_a_picture_from_upload_to_log(tmp_path: Path) -> None:
    """It is uploaded, named by a message, in the log by its hash, and read back; a restart changes nothing."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("solo")
        answer = await upload(site, session_id, PNG, "屏幕 1.png")
        assert answer.status_code == 201
        file = {"sha256": sha256(PNG), "name": "屏幕 1.png", "media_type": "image/png", "size": len(PNG)}
        assert answer.json() == file
        named = [{"sha256": sha256(PNG), "name": "屏幕 1.png"}]
        said = await site.command(session_id, "user.message", content="look", attachments=named, command_id="m1")
        assert said.status_code == 200
        again = await site.command(session_id, "user.message", content="look", attachments=named, command_id="m1")
        assert again.json()["metadata"] == said.json()["metadata"]
        [message] = [frame for frame in await events(site, session_id) if frame["event"] == "message.posted"]
        assert message["metadata"]["attachments"] == [file]
    async with open_site(tmp_path) as site:
        read = await fetch(site, session_id, sha256(PNG), name="屏幕 1.png")
        assert (read.status_code, read.content) == (200, PNG)
        assert read.headers["content-disposition"] == f"inline; filename*=UTF-8''{quote('屏幕 1.png')}"


@pytest.mark.parametrize(
    ("data", "media_type", "how"),
    [
        (PNG, "image/png", "inline"),
        (GIF, "image/gif", "inline"),
        (PDF, "application/pdf", "attachment"),
        (PAGE, "text/plain; charset=utf-8", "attachment"),
        (b"<svg onload=alert(1)>", "text/plain; charset=utf-8", "attachment"),
    ],
)
@run
async def test_a_file_is_what_its_content_says(data: bytes, media_type: str, how: str, tmp_path: Path) -> None:
    """Whatever it is called: only pictures are shown in place, and nothing can act as a page of this origin."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("solo")
        assert (await upload(site, session_id, data, "evil.html")).json()["media_type"] == media_type.partition(";")[0]
        headers = (await fetch(site, session_id, sha256(data), name='evil";.html')).headers
        assert headers["content-type"] == media_type
        assert headers["content-disposition"] == f"{how}; filename*=UTF-8''evil%22%3B.html"
        assert headers["content-security-policy"] == "default-src 'none'; sandbox"
        assert headers["x-content-type-options"] == "nosniff"


@run
async def test_what_is_not_taken(tmp_path: Path) -> None:
    """Nothing, too much, unknown bytes and more than a session may have: each says why."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("solo")
        for data, status, code in (
            (b"", 400, "file_empty"),
            (b"x" * (limits.FILE_BYTES + 1), 413, "too_large"),
            (BYTES, 415, "file_type"),
        ):
            answer = await upload(site, session_id, data)
            assert (answer.status_code, code_of(answer)) == (status, code)
        assert "image/png" in (await upload(site, session_id, BYTES)).json()["content"]
        assert await site.app.log.list_files(session_id) == {}


@run
async def test_a_session_has_so_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the next one is refused, by number or by size."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("solo")
        monkeypatch.setattr(limits, "SESSION_FILES", 1)
        assert (await upload(site, session_id, PNG)).status_code == 201
        assert code_of(await upload(site, session_id, GIF)) == "session_files_full"
        monkeypatch.setattr(limits, "SESSION_FILES", 10)
        monkeypatch.setattr(limits, "SESSION_FILE_BYTES", len(PNG) + 1)
        assert code_of(await upload(site, session_id, GIF)) == "session_files_full"


@run
async def test_a_message_names_files_of_its_session_only(tmp_path: Path) -> None:
    """An unknown hash, that of another session and what is no hash are refused, and nothing is said."""
    async with open_site(tmp_path) as site:
        mine, other = await site.create("solo"), await site.create("solo")
        await upload(site, other, PNG)
        for wrong, status, code in (
            ([{"sha256": sha256(PNG)}], 409, "file_unknown"),
            ([{"sha256": "../../owner.token"}], 400, "bad_field"),
            ([{"name": "x"}], 400, "bad_field"),
            ("x", 400, "bad_field"),
            ([{"sha256": sha256(PNG)}] * (limits.ATTACHMENTS + 1), 409, "too_many_files"),
        ):
            answer = await site.command(mine, "user.message", content="look", attachments=wrong)
            assert (answer.status_code, code_of(answer)) == (status, code)
        assert [frame["event"] for frame in await events(site, mine)] == ["agent.session_created"]


@run
async def test_a_client_cannot_say_what_a_file_is(tmp_path: Path) -> None:
    """Type, size and place come from the stored content; a path in the frame is ignored."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("solo")
        await upload(site, session_id, PAGE)
        lie = {"sha256": sha256(PAGE), "name": "../../x.png", "media_type": "image/png", "size": 1, "path": "/etc"}
        fields: dict[str, Any] = {"attachments": [lie], "files": [lie]}
        assert (await site.command(session_id, "user.message", content="look", **fields)).status_code == 200
        session = await site.app.session(session_id)
        (message,) = [fact for fact in await facts(site.app, session, MessagePosted) if fact.turn_id is None]
        (file,) = message.attachments
        assert (file.name, file.media_type, file.size) == ("x.png", "text/plain", len(PAGE))


@run
async def test_who_may_do_what_with_files(tmp_path: Path) -> None:
    """Speakers upload, readers read; a token of another session, and nobody, learn nothing."""
    async with open_site(tmp_path) as site:
        session_id, other = await site.create("duo"), await site.create("duo")
        member, _ = site.issue(Role.MEMBER, session_id=session_id, member="eve")
        viewer, _ = site.issue(Role.VIEWER, session_id=session_id)
        stranger, _ = site.issue(Role.MEMBER, session_id=other, member="eve")
        assert (await upload(site, session_id, PNG, token=member)).status_code == 201
        assert code_of(await upload(site, session_id, PNG, token=viewer)) == "forbidden"
        assert (await upload(site, session_id, PNG, token=stranger)).status_code == 404
        assert (await upload(site, session_id, PNG, token="wrong")).status_code == 401
        assert (await fetch(site, session_id, sha256(PNG), viewer)).content == PNG
        assert (await fetch(site, session_id, sha256(PNG), stranger)).status_code == 404
        assert (await fetch(site, other, sha256(PNG), stranger)).status_code == 404
        assert (await fetch(site, session_id, sha256(PNG), "wrong")).status_code == 401
        for name in ("moot.db", "..%2f..%2fowner.token", "0" * 64):
            assert (await fetch(site, session_id, name)).status_code == 404


@run
async def test_files_go_with_their_session(tmp_path: Path) -> None:
    """In the trash they are not served; restored they are; deleted for good they are gone from the disk."""
    async with open_site(tmp_path) as site, site.client() as client:
        session_id = await site.create("solo")
        await upload(site, session_id, PNG)
        await client.delete(f"/api/sessions/{session_id}")
        assert (await fetch(site, session_id, sha256(PNG))).status_code == 404
        await client.post(f"/api/sessions/{session_id}/restore")
        assert (await fetch(site, session_id, sha256(PNG))).content == PNG
        await client.delete(f"/api/sessions/{session_id}", params={"forever": "1"})
        assert not [path for path in (tmp_path / "files").rglob("*") if path.is_file()]


@run_server
async def test_the_client_attaches_files(tmp_path: Path) -> None:
    """`moot.connect`: the same calls as in process, refused with the server's sentence."""
    async with serve_site(tmp_path, has_sockets=True) as site, moot.connect(site.url, OWNER) as client:
        session = await client.session(team="solo")
        file = await session.attach(PNG, "shot.png")
        async for _ in session.say("[NEXT: bob] look", attachments=[file]):
            pass
        with pytest.raises(Refused, match="image/png"):
            await session.attach(BYTES, "x")
        local = await site.app.session(session.id)
        await has(site.app, local, "session.paused")
        (message,) = [fact for fact in await facts(site.app, local, MessagePosted) if fact.turn_id is None]
        assert message.attachments == (file,)

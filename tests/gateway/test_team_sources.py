"""Team files over HTTP: who may read and save them, and why nothing of a saved one runs by itself."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from moot.app import open_app
from moot.config.own_folders import find_data_folder
from moot.config.team_schema import team_schema
from moot.config.trust import Start, TrustStore
from moot.core.session.principal import Role
from moot.gateway import team_sources
from moot.gateway.auth import Tokens
from moot.gateway.settings import GatewaySettings
from tests.gateway.sites import OWNER, Site, code_of
from tests.runtime.apps import run

TEXT = """moot: 1
name: poster
members:
  - {id: ann, kind: human}
  - {id: bob, kind: ai, agent: {type: script, replies: [hello]}}
"""
PATH = "/api/teams/poster/source"


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))


@asynccontextmanager
async def served(tmp_path: Path, *teams: str) -> AsyncIterator[Site]:
    file = tmp_path / "project" / "moot.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(TEXT)
    file.chmod(0o640)
    data = tmp_path / "data"
    async with open_app(file, *teams, data=data) as app:
        yield Site(app, Tokens(data, owner_token=OWNER), GatewaySettings(), data)


async def put(client: httpx.AsyncClient, text: str, sha256: str, **query: str) -> httpx.Response:
    return await client.put(PATH, params=query, json={"text": text, "sha256": sha256})


@run
async def test_a_saved_file_is_inert(tmp_path: Path) -> None:
    """It is on the disk with its mode; the running team is as it was, and the folder is trusted no more."""
    async with served(tmp_path) as site, site.client() as client:
        folder = tmp_path / "project"
        trust = TrustStore(find_data_folder())
        start = Start(member="bob", argv=("true",))
        trust.add(folder, [start])
        read = (await client.get(PATH)).json()
        assert (read["name"], read["text"], read["file"]) == ("poster", TEXT, str(folder / "moot.yaml"))
        changed = TEXT.replace("hello", "goodbye 再见")
        saved = await put(client, changed, read["sha256"])
        assert saved.status_code == 200
        assert (await client.get(PATH)).json() == saved.json()
        assert (folder / "moot.yaml").read_text() == changed
        assert (folder / "moot.yaml").stat().st_mode & 0o777 == 0o640
        assert [path.name for path in folder.iterdir()] == ["moot.yaml"]
        assert trust.find_untrusted(folder, [start]) == [start]
        session = await site.app.session()
        assert await session.ask("[NEXT: bob] hi") == "hello"


@run
async def test_what_is_not_saved(tmp_path: Path) -> None:
    """An invalid text, told in the reader's language, and one that was made from an older file."""
    async with served(tmp_path) as site, site.client() as client:
        sha256 = (await client.get(PATH)).json()["sha256"]
        bad = TEXT.replace("kind: ai", "kind: robot")
        refused = await put(client, bad, sha256, lang="zh")
        assert (refused.status_code, code_of(refused)) == (422, "team_source_invalid")
        assert refused.json()["content"].startswith("团队文件有问题")
        [problem] = (await client.post(f"{PATH}/check", json={"text": bad})).json()["problems"]
        assert (problem["line"], problem["path"]) == (5, "members[1].kind")
        assert (await client.post(f"{PATH}/check", json={"text": TEXT})).json() == {"problems": []}
        assert (await client.post(f"{PATH}/check", json={"text": "- [\x00"})).json()["problems"]
        assert code_of(await put(client, TEXT, "0" * 64)) == "team_source_changed"
        assert code_of(await client.put(PATH, json={"text": TEXT})) == "bad_field"
        assert (await client.get(PATH)).json()["text"] == TEXT


@run
async def test_only_the_owner_at_this_machine(tmp_path: Path) -> None:
    """Not another role, not over the network, not through a proxy; a built-in team has no file."""
    async with served(tmp_path, "chat-demo") as site:
        session_id = await site.create("poster")
        tokens = [site.issue(Role.VIEWER)[0], site.issue(Role.OWNER, session_id=session_id)[0]]
        for token in tokens:
            async with site.client(token) as client:
                assert code_of(await client.get(PATH)) == "forbidden"
        for header in (
            {"x-forwarded-for": "192.0.2.1"},
            {"host": "moot.example"},  # nginx, with nothing but what our page says
            {"origin": "https://moot.example"},
        ):
            async with site.client(**header) as client:
                assert code_of(await client.get(PATH)) == "forbidden", header
                assert (await client.get("/api/teams")).json()[0]["players"] == [], header
        async with site.client(host=f"localhost:{site.settings.port}") as client:
            assert (await client.get(PATH)).status_code == 200
            (player,) = (await client.get("/api/teams")).json()[0]["players"]
            assert (player["member"], player["agent"], player["model"]) == ("bob", "script", "")
        away: Any = httpx.ASGITransport(site.gateway, client=("192.0.2.1", 5))
        headers = {"authorization": f"Bearer {OWNER}"}
        async with httpx.AsyncClient(base_url=site.url, headers=headers, transport=away) as client:
            assert code_of(await client.get(PATH)) == "forbidden"
        async with site.client() as client:
            assert code_of(await client.get("/api/teams/nobody/source")) == "unknown_team"
            names = [team["name"] for team in (await client.get("/api/teams")).json()]
            assert code_of(await client.get(f"/api/teams/{names[1]}/source")) == "team_without_file"


@run
async def test_the_schema_for_an_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is what `moot schema` prints, and is made once: whoever may read could hold up others with it."""
    made = 0

    def make() -> dict[str, Any]:
        nonlocal made
        made += 1
        return team_schema()

    monkeypatch.setattr(team_sources, "team_schema", make)
    async with served(tmp_path) as site, site.client() as client:
        first, second = [(await client.get("/api/team-schema")).json() for _ in range(2)]
    assert first == second
    assert first["title"] == "Moot team file"
    assert "members" in json.dumps(first["$defs"]["TeamFile"])
    assert made == 1


@run
async def test_a_file_that_is_a_link_is_trusted_no_more_where_it_lies(tmp_path: Path) -> None:
    """Trust is given to folders: a file that is saved through a link in one folder is the team of both."""
    async with served(tmp_path) as site, site.client() as client:
        folder, link = tmp_path / "shared", tmp_path / "project" / "moot.yaml"
        folder.mkdir()
        link.rename(folder / "moot.yaml")
        link.symlink_to(folder / "moot.yaml")
        trust, start = TrustStore(find_data_folder()), Start(member="bob", argv=("true",))
        for each in (folder, link.parent):
            trust.add(each, [start])
        changed = TEXT.replace("hello", "goodbye")
        answer = await put(client, changed, (await client.get(PATH)).json()["sha256"])
        assert answer.status_code == 200
        assert (folder / "moot.yaml").read_text() == changed
        for each in (folder, link.parent):
            assert trust.find_untrusted(each, [start]) == [start]

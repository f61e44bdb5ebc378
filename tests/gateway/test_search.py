"""`GET /api/search`: who finds what, and what is told of it."""

from pathlib import Path
from typing import Any

import pytest

from moot.core.session.principal import Role
from tests.gateway.sites import OWNER, Site, code_of, open_site
from tests.runtime.apps import has, run


async def find(site: Site, query: str, token: str = OWNER, **params: Any) -> list[Any]:
    async with site.client(token) as client:
        answer = await client.get("/api/search", params={"q": query, **params})
    assert answer.status_code == 200, answer.text
    found: list[Any] = answer.json()["found"]
    return found


@run
async def test_what_was_said_is_found_in_every_session(tmp_path: Path) -> None:
    """By people and members, with whose it is, where, and the words marked; a restart changes nothing."""
    async with open_site(tmp_path) as site:
        first, second = await site.create("solo", title="Herbs"), await site.create("duo")
        await site.command(first, "user.message", content="[NEXT: bob] 请做一张春季海报")
        await has(site.app, await site.app.session(first), "session.paused")
        await site.command(second, "user.message", content="[FROM: alice] wet feet in spring")
        [poster] = await find(site, "海报")
        assert (poster["session_id"], poster["title"], poster["member"]) == (first, "Herbs", "alice")
        [[start, end]] = poster["marks"]
        assert poster["text"][start:end] == "海报"
        [answer] = await find(site, "hello BACK")
        assert (answer["member"], answer["text"]) == ("bob", "hello back")
        assert [each["session_id"] for each in await find(site, "feet")] == [second]
        assert await find(site, "feet", session=first) == []
        assert [each["seq"] for each in await find(site, "wet fee", limit=1)] == [2]
        assert await find(site, "herbs")  # a title
    async with open_site(tmp_path) as site:
        assert len(await find(site, "海报")) == 1


@run
async def test_a_token_finds_only_what_it_may_read(tmp_path: Path) -> None:
    """One for a single session finds nothing of others, and learns nothing of them."""
    async with open_site(tmp_path) as site:
        mine, other = await site.create("duo"), await site.create("duo")
        for session_id in (mine, other):
            assert (await site.command(session_id, "user.message", content="[FROM: eve] herbs")).status_code == 200
        viewer, _ = site.issue(Role.VIEWER, session_id=mine)
        assert [each["session_id"] for each in await find(site, "herbs", viewer)] == [mine]
        async with site.client(viewer) as client:
            answer = await client.get("/api/search", params={"q": "herbs", "session": other})
            assert (answer.status_code, code_of(answer)) == (404, "not_found")
        async with site.client(None) as client:
            assert (await client.get("/api/search", params={"q": "herbs"})).status_code == 401


@pytest.mark.parametrize("query", ["", "!", "a" * 500])
@run
async def test_a_search_for_nothing_finds_nothing(query: str, tmp_path: Path) -> None:
    """No words, or words that nobody said; only a query that is too long is refused."""
    async with open_site(tmp_path) as site, site.client() as client:
        await site.command(await site.create("solo"), "user.message", content="herbs")
        assert await find(site, query) == []
        assert code_of(await client.get("/api/search", params={"q": "a" * 501})) == "bad_field"

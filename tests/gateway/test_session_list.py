"""What a list of sessions shows: name, state, last line, how many messages; cheap, and durable."""

from pathlib import Path
from typing import Any

from moot.core.session.events import SessionRenamed
from moot.core.session.principal import Role
from moot.runtime.stores.reader import Reader
from tests.gateway.sites import OWNER, Site, code_of, events, open_site
from tests.runtime.apps import has, run


async def listed(site: Site, token: str = OWNER) -> list[Any]:
    async with site.client(token) as client:
        entries: list[Any] = (await client.get("/api/sessions")).json()
    return entries


@run
async def test_a_renamed_session(tmp_path: Path) -> None:
    """One event that everybody gets; the list and the session say the new name, also after a restart."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("solo", title="Draft")
        assert (await site.command(session_id, "user.rename", title="Poster 海报", command_id="r")).status_code == 200
        assert (await site.command(session_id, "user.rename", title="Poster 海报", command_id="r")).status_code == 200
        [renamed] = [frame for frame in await events(site, session_id) if frame["event"] == "session.renamed"]
        assert renamed["metadata"] == {"title": "Poster 海报", "member": "alice"}
        source = {"loop_id": "moot-orchestrator", "role": "user", "member": "alice", "token": "owner"}
        assert renamed["source"] == source
        assert renamed["show_content"] == "✎ The session is now called: Poster 海报"
        assert [entry["title"] for entry in await listed(site)] == ["Poster 海报"]
    async with open_site(tmp_path) as site, site.client() as client:
        assert [entry["title"] for entry in await listed(site)] == ["Poster 海报"]
        assert (await client.get(f"/api/sessions/{session_id}")).json()["state"]["title"] == "Poster 海报"


@run
async def test_who_may_rename(tmp_path: Path) -> None:
    """Whoever may speak, in their own name; a viewer may not, and what is no title is refused."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("duo")
        viewer, _ = site.issue(Role.VIEWER)
        member, _ = site.issue(Role.MEMBER, session_id=session_id, member="eve")
        answer = await site.command(session_id, "user.rename", title="x", token=viewer)
        assert (answer.status_code, code_of(answer)) == (403, "forbidden")
        for title, status, code in (
            ("", 409, "title_empty"),
            ("x" * 201, 409, "title_too_long"),
            ("a\nb", 409, "title_not_plain"),
            (7, 400, "bad_field"),
        ):
            answer = await site.command(session_id, "user.rename", title=title)
            assert (answer.status_code, code_of(answer)) == (status, code)
        assert (await site.command(session_id, "user.rename", title="Eve's", token=member)).status_code == 200
        [fact] = [e.fact for e in await site.app.log.read(session_id) if isinstance(e.fact, SessionRenamed)]
        assert fact == SessionRenamed(title="Eve's", member="eve")


@run
async def test_the_last_line_of_each_session(tmp_path: Path) -> None:
    """Who said it and how it begins, on one line of at most 120 characters; kept over a restart."""
    async with open_site(tmp_path) as site:
        quiet, chatty = await site.create("solo"), await site.create("solo")
        await site.command(chatty, "user.message", content="one\n\n  two\t" + "x" * 500 + " [NEXT: alice]")
        first = (await listed(site))[0]["last"]
        assert first == {"by": "alice", "text": "one two " + "x" * 112}
        await site.command(chatty, "user.message", content="[NEXT: bob]")
        await has(site.app, await site.app.session(chatty), "turn.completed")
        await has(site.app, await site.app.session(chatty), "session.paused")
        before = await listed(site)
        assert [(entry["session_id"], entry["last"], entry["messages"]) for entry in before] == [
            (chatty, {"by": "bob", "text": "hello back"}, 3),
            (quiet, None, 0),
        ]
    async with open_site(tmp_path) as site:
        assert await listed(site) == before


@run
async def test_why_a_session_stopped(tmp_path: Path) -> None:
    """A session whose AI failed is told from one that waits in peace."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("solo")
        await site.command(session_id, "user.message", content="hi")
        assert (await listed(site))[0]["pause_reason"] == "fallback"


@run
async def test_listing_reads_no_events(tmp_path: Path, monkeypatch: Any) -> None:
    """1,000 sessions are listed as fast as their rows can be read: nothing is folded, no event is looked at."""
    async with open_site(tmp_path, message_burst=1_000) as site:
        session_id = await site.create("solo")
        await site.command(session_id, "user.message", content="hello")

        def refuse(*_: Any) -> None:
            raise AssertionError("the list read events")

        monkeypatch.setattr(Reader, "read", refuse)
        monkeypatch.setattr(Reader, "load_snapshot", refuse)
        assert (await listed(site))[0]["last"] == {"by": "alice", "text": "hello"}

"""REST: sessions for programs that hold no connection, and who may do what."""

import asyncio
import json
from pathlib import Path
from typing import Any

from moot.core.machines.catalogue import MACHINES
from moot.core.session.principal import Role
from moot.testing import VirtualClock
from tests.cli.command import check_chain, names
from tests.gateway.sites import DUO, SOLO, code_of, count, events, open_site
from tests.runtime.apps import Puppet, has, run

NOWHERE = "s_0000000000000000"


@run
async def test_teams_on_offer(tmp_path: Path) -> None:
    """The first is the default; nothing is said of what plays the AIs."""
    async with open_site(tmp_path) as site, site.client() as client:
        teams = (await client.get("/api/teams")).json()
        assert [team["name"] for team in teams] == ["duo", "solo"]
        assert [(member["id"], member["kind"]) for member in teams[1]["members"]] == [("alice", "human"), ("bob", "ai")]
        assert "hello back" not in json.dumps(teams)
        assert teams[1]["scripted"] is True


@run
async def test_machines_as_on_the_command_line(tmp_path: Path) -> None:
    """`GET /api/machines` is `moot machines --json`."""
    async with open_site(tmp_path) as site, site.client() as client:
        machines = (await client.get("/api/machines")).json()
        assert [machine["name"] for machine in machines] == [machine.name for machine in MACHINES]
        assert set(machines[0]["transitions"][0]) == {"from", "trigger", "to", "extension"}


@run
async def test_a_session_from_start_to_end(tmp_path: Path) -> None:
    """Create, speak, read state and events: one log, the same frames as everywhere, the chain intact."""
    async with open_site(tmp_path) as site, site.client() as client:
        created = await client.post("/api/sessions", json={"team": "solo", "title": "Poster"})
        assert created.status_code == 201
        session_id = created.json()["session_id"]
        assert created.headers["location"] == f"/api/sessions/{session_id}"
        assert created.json()["seq"] == 1
        answer = await site.command(session_id, "user.message", content="[NEXT: bob] hi", command_id="one")
        assert answer.status_code == 200
        assert answer.json()["event"] == "system.accepted"
        assert answer.json()["metadata"]["command_id"] == "one"
        await has(site.app, await site.app.session(session_id), "session.paused")
        assert (await site.command(session_id, "user.end")).status_code == 200
        raw = (await client.get(f"/api/sessions/{session_id}/events")).content
        frames = json.loads(raw)
        assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
        assert names(frames)[0] == "agent.session_created"
        assert names(frames)[-1] == "session.completed"
        check_chain([json.dumps(frame, ensure_ascii=False, separators=(",", ":")) for frame in frames])
        now = (await client.get(f"/api/sessions/{session_id}")).json()
        assert (now["seq"], now["hash"]) == (len(frames), frames[-1]["hash"])
        assert (now["state"]["title"], now["state"]["status"]) == ("Poster", "completed")
        then = (await client.get(f"/api/sessions/{session_id}", params={"at": 5})).json()
        assert (then["seq"], then["hash"]) == (5, frames[4]["hash"])
        assert (then["state"]["status"], then["state"]["counters"]["messages"]) == ("active", 1)
        assert now["state"]["version"] == 1
        assert (await client.get(f"/api/sessions/{session_id}", params={"at": 10**6})).json()["seq"] == len(frames)
        assert (await client.get(f"/api/sessions/{session_id}", params={"at": "x"})).status_code == 400
        [listed] = (await client.get("/api/sessions")).json()
        assert (listed["session_id"], listed["title"], listed["status"]) == (session_id, "Poster", "completed")
        assert (listed["seq"], listed["hash"], listed["busy"]) == (now["seq"], now["hash"], False)


@run
async def test_creating_with_a_command_id_is_exactly_once(tmp_path: Path) -> None:
    """Asking again gives the same session; another title with the same id is refused."""
    async with open_site(tmp_path) as site, site.client() as client:
        body = {"team": "solo", "title": "a", "command_id": "once"}
        answers = await asyncio.gather(*(client.post("/api/sessions", json=body) for _ in range(10)))
        assert {answer.json()["session_id"] for answer in answers} == {answers[0].json()["session_id"]}
        again = await client.post("/api/sessions", json={**body, "title": "b"})
        assert (again.status_code, code_of(again)) == (409, "command_id_reused")


@run
async def test_creating_what_there_is_not(tmp_path: Path) -> None:
    """An unknown team is named with those there are; fields of the wrong type are named."""
    async with open_site(tmp_path) as site, site.client() as client:
        for body, status, code in (
            ({"team": "nobody"}, 404, "unknown_team"),
            ({"team": 7}, 400, "bad_field"),
            ({"title": None}, 400, "bad_field"),
            ({"command_id": ""}, 400, "bad_field"),
        ):
            answer = await client.post("/api/sessions", json=body)
            assert (answer.status_code, code_of(answer)) == (status, code), body
        assert "duo, solo" in (await client.post("/api/sessions", json={"team": "x"})).json()["content"]
        assert (await client.get("/api/sessions")).json() == []


@run
async def test_paging_through_events(tmp_path: Path) -> None:
    """after and limit cut the same list; nothing is repeated or left out."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("solo")
        for _ in range(3):
            await site.command(session_id, "user.message", content="note to self")
        whole = await events(site, session_id)
        assert await events(site, session_id, after=0) == whole
        paged: list[Any] = []
        while page := await events(site, session_id, after=paged[-1]["seq"] if paged else 0, limit=2):
            assert len(page) <= 2
            paged += page
        assert paged == whole
        assert await events(site, session_id, after=whole[-1]["seq"] + 100) == []
        assert await events(site, session_id, limit=10**9) == whole


@run
async def test_the_same_command_a_hundred_times(tmp_path: Path) -> None:
    """One event, a hundred equal answers, over several connections."""
    async with open_site(tmp_path, message_burst=200) as site:
        session_id = await site.create("solo")
        body = {"content": "only once", "command_id": "c1"}
        answers = await asyncio.gather(*(site.command(session_id, "user.message", **body) for _ in range(100)))
        assert {answer.status_code for answer in answers} == {200}
        assert len({json.dumps(answer.json()["metadata"]) for answer in answers}) == 1
        assert names(await events(site, session_id)).count("message.posted") == 1


@run
async def test_a_command_id_with_another_body(tmp_path: Path) -> None:
    """Refused with 409, and the error names the command."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("solo")
        await site.command(session_id, "user.message", content="a", command_id="c1")
        answer = await site.command(session_id, "user.message", content="b", command_id="c1")
        assert (answer.status_code, code_of(answer)) == (409, "command_id_reused")
        assert answer.json()["event"] == "agent.error"
        assert answer.json()["metadata"]["command_id"] == "c1"


@run
async def test_a_viewer_reads(tmp_path: Path) -> None:
    """Everything may be read, nothing said, started or ended."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("solo")
        token, _ = site.issue(Role.VIEWER)
        async with site.client(token) as client:
            for path in ("", "/events"):
                assert (await client.get(f"/api/sessions/{session_id}{path}")).status_code == 200
            answer = await client.post("/api/sessions", json={})
            assert (answer.status_code, code_of(answer)) == (403, "forbidden")
        for event in ("user.message", "user.end", "user.pause", "user.resume", "user.retry", "user.cancel"):
            answer = await site.command(session_id, event, content="x", token=token)
            assert (answer.status_code, code_of(answer)) == (403, "forbidden"), event
        assert len(await events(site, session_id)) == 1


@run
async def test_a_member_speaks_as_that_human(tmp_path: Path) -> None:
    """By default and by name; signing as another human is forbidden, and so is another session."""
    async with open_site(tmp_path) as site:
        session_id, other = await site.create("duo"), await site.create("duo")
        token, _ = site.issue(Role.MEMBER, session_id=session_id, member="eve")
        assert (await site.command(session_id, "user.message", content="hi", token=token)).status_code == 200
        assert (
            await site.command(session_id, "user.message", content="[FROM: Eve] hi", token=token)
        ).status_code == 200
        for text in ("[FROM: alice] hi", "hi [FROM:Alice] there", "[FROM: bob] hi", "[FROM: nobody] hi"):
            answer = await site.command(session_id, "user.message", content=text, token=token)
            assert answer.status_code == (403 if "lice" in text else 409), text
        assert (await site.command(other, "user.message", content="hi", token=token)).status_code == 404
        async with site.client(token) as client:
            assert (await client.post("/api/sessions", json={})).status_code == 403
        posted = [frame for frame in await events(site, session_id) if frame["event"] == "message.posted"]
        assert [frame["metadata"]["member"] for frame in posted] == ["eve", "eve"]


@run
async def test_the_owner_speaks_for_anybody(tmp_path: Path) -> None:
    """Two humans: without a name it is ambiguous at first, [FROM:] says who."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("duo")
        answer = await site.command(session_id, "user.message", content="hi")
        assert (answer.status_code, code_of(answer)) == (409, "sender_ambiguous")
        assert (await site.command(session_id, "user.message", content="[FROM: eve] hi")).status_code == 200


@run
async def test_a_state_can_be_asked_for_and_acks_are_taken(tmp_path: Path) -> None:
    """Any user.* frame: request_state gives the signed state; an ack changes nothing, a wrong one is counted."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("solo")
        exported = (await site.command(session_id, "user.request_state")).json()
        assert exported["event"] == "agent.state_exported"
        assert json.loads(site.tokens.unsign(exported["metadata"]["signed_state"]) or b"")["seq"] == 1
        assert (await site.command(session_id, "user.ack", content=1)).status_code == 200
        assert (await site.command(session_id, "user.ack", last_seq=99)).status_code == 200
        assert count(site, "moot_ignored_acks_total") == 1
        answer = await site.command(session_id, "user.ack", last_seq="1")
        assert (answer.status_code, code_of(answer)) == (400, "bad_cursor")
        assert len(await events(site, session_id)) == 1


@run
async def test_looking_at_a_session_starts_nothing(tmp_path: Path) -> None:
    """A session of a team that is not on offer can be read; its turn is not tried, so it does not fail."""
    bob = Puppet()
    async with open_site(tmp_path, DUO, SOLO, agents={"bob": bob}) as site:
        session_id = await site.create("solo")
        await site.command(session_id, "user.message", content="[NEXT: bob] hi")
        await bob.is_called()
        before = await events(site, session_id)
    async with open_site(tmp_path, DUO) as site, site.client() as client:
        assert (await client.get(f"/api/sessions/{session_id}")).json()["state"]["executing"] == "bob"
        assert await events(site, session_id) == before


@run
async def test_the_server_can_be_watched(tmp_path: Path) -> None:
    """/healthz and /readyz are open; a log that cannot be read is not ready."""
    async with open_site(tmp_path) as site, site.client(None) as client:
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        assert (await client.get("/readyz")).status_code == 200
        await site.app.log.close()
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get("/readyz")).status_code == 503


@run
async def test_a_log_that_was_removed_is_not_ready(tmp_path: Path) -> None:
    """Nothing is accepted that would be gone after a restart; monitoring sees it at once."""
    async with open_site(tmp_path) as site, site.client() as client:
        session_id = await site.create("solo")
        database, kept = tmp_path / "moot.db", tmp_path / "kept.db"
        database.rename(kept)
        assert (await client.get("/readyz")).status_code == 503
        body = {"event": "user.message", "content": "hi"}
        assert (await client.post(f"/api/sessions/{session_id}/commands", json=body)).status_code == 503
        kept.rename(database)
        assert (await client.get("/readyz")).status_code == 200


@run
async def test_an_export_needs_no_server(tmp_path: Path) -> None:
    """One HTML file, sent as a download, in the language that is asked for."""
    async with open_site(tmp_path) as site, site.client() as client:
        session_id = await site.create("solo")
        await site.command(session_id, "user.message", content="[NEXT: nobody] <b>hi</b>")
        answer = await client.get(f"/api/sessions/{session_id}/export", params={"lang": "zh"})
        assert answer.headers["content-disposition"] == f'attachment; filename="moot-{session_id}.html"'
        assert "&lt;b&gt;hi&lt;/b&gt;" in answer.text
        assert "无法解析" in answer.text
        assert (await client.get(f"/api/sessions/{NOWHERE}/export")).status_code == 404


@run
async def test_a_session_is_removed_by_its_owner(tmp_path: Path) -> None:
    """Gone, though it was open and a turn ran; a member may not, and nobody twice."""
    async with open_site(tmp_path) as site, site.client() as client:
        session_id = await site.create("solo")
        token, _ = site.issue(Role.MEMBER, session_id=session_id, member="alice")
        async with site.client(token) as member:
            assert (await member.delete(f"/api/sessions/{session_id}")).status_code == 403
        await site.command(session_id, "user.message", content="[NEXT: bob] hi")
        assert (await client.delete(f"/api/sessions/{session_id}")).status_code == 204
        assert (await client.get(f"/api/sessions/{session_id}")).status_code == 404
        assert (await client.delete(f"/api/sessions/{session_id}")).status_code == 404
        assert (await client.get("/api/sessions")).json() == []
        assert (await site.command(session_id, "user.message", content="hi")).status_code == 404


@run
async def test_a_removed_session_waits_in_the_trash(tmp_path: Path) -> None:
    """It comes back as it was and goes on with its turn; deleting it again is for good."""
    bob = Puppet()
    async with open_site(tmp_path, agents={"bob": bob}) as site, site.client() as client:
        session_id = await site.create("solo", title="Poster")
        path = f"/api/sessions/{session_id}"
        await site.command(session_id, "user.message", content="[NEXT: bob] hi")
        await bob.is_called()
        before = await events(site, session_id)
        await client.delete(path)
        [trashed] = (await client.get("/api/sessions", params={"removed": "1"})).json()
        assert (trashed["session_id"], trashed["title"], trashed["removed_at"] >= before[-1]["timestamp"]) == (
            session_id,
            "Poster",
            True,
        )
        assert (await client.post(f"{path}/restore")).json()["state"]["executing"] == "bob"
        assert (await client.post(f"{path}/restore")).status_code == 404
        assert (await events(site, session_id))[: len(before)] == before
        await bob.is_called(2)
        bob.replies("here again")
        await has(site.app, await site.app.session(session_id), "session.paused")
        await client.delete(path)
        assert (await client.delete(path, params={"forever": "1"})).status_code == 204
        assert (await client.post(f"{path}/restore")).status_code == 404
        assert (await client.get("/api/sessions", params={"removed": "1"})).json() == []


@run
async def test_the_trash_is_emptied_after_a_month(tmp_path: Path) -> None:
    """Retention is a visible policy: 30 days, looked at when something is removed and at the start."""
    clock = VirtualClock()
    async with open_site(tmp_path, clock=clock) as site, site.client() as client:
        old, new = await site.create("solo"), await site.create("solo")
        await client.delete(f"/api/sessions/{old}")
        await clock.advance(30 * 86_400 + 1)
        await client.delete(f"/api/sessions/{new}")
        trash = (await client.get("/api/sessions", params={"removed": "1"})).json()
        assert [each["session_id"] for each in trash] == [new]


@run
async def test_the_trash_is_the_owners(tmp_path: Path) -> None:
    """A member or a viewer neither looks into it nor takes anything out."""
    async with open_site(tmp_path) as site, site.client() as client:
        session_id = await site.create("solo")
        await client.delete(f"/api/sessions/{session_id}")
        for role, about in ((Role.VIEWER, {}), (Role.MEMBER, {"session_id": session_id, "member": "alice"})):
            token, _ = site.issue(role, **about)
            async with site.client(token) as other:
                assert (await other.get("/api/sessions", params={"removed": "1"})).status_code == 403
                assert (await other.post(f"/api/sessions/{session_id}/restore")).status_code == 403
                assert (await other.delete(f"/api/sessions/{session_id}", params={"forever": "1"})).status_code == 403

"""Links to a session over HTTP: who may make them, what they open, and how they end. And copies of a session."""

from pathlib import Path

from moot.core.session.principal import Role
from tests.gateway.sites import DUO, code_of, open_site
from tests.runtime.apps import run


@run
async def test_a_link_opens_one_session_until_it_is_revoked(tmp_path: Path) -> None:
    """Its token is shown once, reads that session and no other, and is worth nothing once it is revoked."""
    async with open_site(tmp_path, DUO) as site, site.client() as owner:
        one, other = [(await owner.post("/api/sessions", json={})).json()["session_id"] for _ in range(2)]
        made = await owner.post(f"/api/sessions/{one}/links", json={"role": "viewer", "label": "the printer"})
        assert made.status_code == 201
        link = made.json()
        assert (link["role"], link["member"], link["label"]) == ("viewer", None, "the printer")
        listed = (await owner.get(f"/api/sessions/{one}/links")).json()
        assert [each["token_id"] for each in listed] == [link["token_id"]]
        assert "token" not in listed[0]
        assert (await owner.get(f"/api/sessions/{other}/links")).json() == []
        async with site.client(link["token"]) as viewer:
            assert (await viewer.get(f"/api/sessions/{one}")).status_code == 200
            assert (await viewer.get(f"/api/sessions/{other}")).status_code == 404
            assert code_of(await viewer.get(f"/api/sessions/{one}/links")) == "forbidden"
            assert code_of(await viewer.post(f"/api/sessions/{one}/links", json={"role": "viewer"})) == "forbidden"
            wrong = await owner.delete(f"/api/sessions/{other}/links/{link['token_id']}")
            assert wrong.status_code == 404
            assert (await owner.delete(f"/api/sessions/{one}/links/{link['token_id']}")).status_code == 204
            assert (await viewer.get(f"/api/sessions/{one}")).status_code == 401


@run
async def test_a_link_for_a_member_names_a_human_of_the_team(tmp_path: Path) -> None:
    """Everything else is refused: an owner's link, a member without a name, an AI, an end in the past."""
    async with open_site(tmp_path, DUO) as site, site.client() as owner:
        session_id = (await owner.post("/api/sessions", json={})).json()["session_id"]
        path = f"/api/sessions/{session_id}/links"
        made = await owner.post(path, json={"role": "member", "member": "eve", "expires_s": 60})
        assert made.status_code == 201
        assert made.json()["expires_at"] > made.json()["created_at"]
        principal = site.tokens.find(made.json()["token"])
        assert principal is not None
        assert (principal.role, principal.session_id, principal.member) == (Role.MEMBER, session_id, "eve")
        for wrong in (
            {"role": "owner"},
            {"role": "worker"},
            {"role": "member"},
            {"role": "member", "member": "bob"},
            {"role": "viewer", "member": "eve"},
            {"role": "viewer", "expires_s": -1},
            {"role": "king"},
        ):
            assert code_of(await owner.post(path, json=wrong)) == "bad_field", wrong


@run
async def test_a_fork_is_the_same_until_there(tmp_path: Path) -> None:
    """A copy has the events up to the one that was named and goes its own way; only an owner makes one."""
    async with open_site(tmp_path, DUO) as site, site.client() as owner:
        session_id = (await owner.post("/api/sessions", json={"title": "Poster"})).json()["session_id"]
        command = {"event": "user.message", "content": "[FROM: alice] hello"}
        assert (await owner.post(f"/api/sessions/{session_id}/commands", json=command)).status_code == 200
        seq = (await owner.get(f"/api/sessions/{session_id}")).json()["seq"]
        made = await owner.post(f"/api/sessions/{session_id}/fork", json={"at": 2})
        assert made.status_code == 201
        copy = made.json()["session_id"]
        assert copy != session_id
        events = (await owner.get(f"/api/sessions/{copy}/events")).json()
        original = (await owner.get(f"/api/sessions/{session_id}/events")).json()
        assert [each["event"] for each in events[:2]] == [each["event"] for each in original[:2]]
        assert any(each["metadata"].get("code") == "forked" for each in events[2:])
        assert (await owner.get(f"/api/sessions/{session_id}")).json()["seq"] == seq
        assert (await owner.post(f"/api/sessions/{session_id}/fork", json={})).status_code == 201
        for at in (0, seq + 1, "two"):
            assert code_of(await owner.post(f"/api/sessions/{session_id}/fork", json={"at": at})) == "bad_field"
        token, _ = site.token_file.create(Role.MEMBER, "2026-01-01T00:00:00.000Z", session_id=session_id, member="eve")
        async with site.client(token) as member:
            assert code_of(await member.post(f"/api/sessions/{session_id}/fork", json={})) == "forbidden"

"""`user.watch`: the list of sessions over a connection, first whole, then its changes."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.core.session.principal import Role
from moot.gateway import watching
from tests.gateway.server import Peer, run
from tests.gateway.sites import DUO, OWNER, SOLO, Site, serve_site
from tests.gateway.sockets import socket_client
from tests.gateway.test_authorisation import ELSEWHERE, ROLES


async def watch(peer: Peer) -> dict[str, Any]:
    """Start to watch; return the metadata of the answer."""
    frame = await peer.ask("user.watch", what="sessions", on=True)
    assert frame["event"] == "system.sessions"
    assert "seq" not in frame
    metadata: dict[str, Any] = frame["metadata"]
    return metadata


async def changed(peer: Peer, is_told: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Read changes until one of them tells this."""
    while True:
        frame = (await peer.until("system.sessions"))[-1]
        assert frame["metadata"]["full"] is False
        if is_told(frame["metadata"]):
            metadata: dict[str, Any] = frame["metadata"]
            return metadata


async def listed(site: Site, token: str = OWNER) -> Any:
    async with site.client(token) as client:
        return (await client.get("/api/sessions")).json()


def ids(rows: list[Any]) -> list[str]:
    return [row["session_id"] for row in rows]


@run
async def test_the_list_and_its_changes(tmp_path: Path) -> None:
    """Rows are those of GET /api/sessions; then only what is new, has changed or is gone, until one stops watching."""
    async with serve_site(tmp_path, SOLO, has_sockets=True) as site:
        first = await site.create(title="First")
        async with socket_client(site, OWNER) as peer:
            assert await watch(peer) == {"full": True, "sessions": await listed(site), "removed": []}
            second = await site.create(title="Second")
            change = await changed(peer, lambda told: second in ids(told["sessions"]))
            assert (ids(change["sessions"]), change["removed"]) == ([second], [])
            await site.command(first, "user.message", content="hi [NEXT: alice]")
            change = await changed(peer, lambda told: "your_turn" in [row["needs"] for row in told["sessions"]])
            assert change["sessions"] == [row for row in await listed(site) if row["session_id"] == first]
            async with site.client() as client:
                await client.delete(f"/api/sessions/{second}")
            change = await changed(peer, lambda told: bool(told["removed"]))
            assert (change["sessions"], change["removed"]) == ([], [second])
            accepted = await peer.ask("user.watch", what="sessions", on=False, command_id="off")
            assert accepted["event"] == "system.accepted"
            await site.command(first, "user.rename", title="Unseen")
            again = await watch(peer)
            assert (again["full"], [row["title"] for row in again["sessions"]]) == (True, ["Unseen"])


@pytest.mark.parametrize("name", ROLES)
@run
async def test_who_is_shown_what(tmp_path: Path, name: str) -> None:
    """Every role may watch, and is shown the sessions that it may read: with a token for one session, that one."""
    role, is_elsewhere, member = ROLES[name]
    async with serve_site(tmp_path, DUO, has_sockets=True) as site:
        own, other = await site.create(), await site.create()
        token, _ = site.issue(role, session_id=ELSEWHERE if is_elsewhere else own, member=member)
        async with socket_client(site, token) as peer, socket_client(site, OWNER) as owner:
            assert ids((await watch(peer))["sessions"]) == ([] if is_elsewhere else [own])
            assert sorted(ids((await watch(owner))["sessions"])) == sorted([other, own])
            await site.command(other, "user.rename", title="Not yours")
            await changed(owner, lambda told: ids(told["sessions"]) == [other])
            await site.command(own, "user.rename", title="Yours")
            await changed(owner, lambda told: ids(told["sessions"]) == [own])
            if not is_elsewhere:
                frame = (await peer.until("system.sessions"))[-1]
                assert [row["title"] for row in frame["metadata"]["sessions"]] == ["Yours"]
            assert await peer.ask("user.watch", what="sessions", on=False, command_id="off")
            shown = [row for frame in peer.frames for row in frame["metadata"].get("sessions", [])]
            assert other not in ids(shown)


@run
async def test_the_list_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last active of them; one that a newer one pushes out is told as removed."""
    monkeypatch.setattr(watching, "LISTED", 2)
    async with serve_site(tmp_path, SOLO, has_sockets=True) as site:
        made = []
        for _ in range(3):
            made.append(await site.create())
            await asyncio.sleep(0.002)  # so that none is as old as another
        async with socket_client(site, OWNER) as peer:
            assert ids((await watch(peer))["sessions"]) == [made[2], made[1]]
            newest = await site.create()
            change = await changed(peer, lambda _: True)
            assert (ids(change["sessions"]), change["removed"]) == ([newest], [made[1]])


@run
async def test_what_cannot_be_watched(tmp_path: Path) -> None:
    """Another word, or what is no yes or no, is refused; to watch counts as a message."""
    async with serve_site(tmp_path, SOLO, has_sockets=True, message_burst=3, messages_per_s=0.001) as site:
        member, _ = site.issue(Role.MEMBER, member="alice")
        async with socket_client(site, member) as peer:
            for fields in ({"what": "tokens"}, {}, {"what": "sessions", "on": "yes"}):
                refused = await peer.ask("user.watch", **fields)
                assert refused["metadata"]["code"] == "bad_field"
            refused = await peer.ask("user.watch", what="sessions")
            assert refused["metadata"]["code"] == "rate_limited"


@run
async def test_nothing_is_read_while_nobody_watches(tmp_path: Path) -> None:
    """The list is looked at for as long as a connection watches it, once for all of them."""
    async with serve_site(tmp_path, SOLO, has_sockets=True) as site:
        endpoint: Any = site.gateway._sockets
        watch_of_all: Any = endpoint._context.watch
        async with socket_client(site, OWNER) as one, socket_client(site, OWNER) as two:
            assert not watch_of_all._looking
            await watch(one)
            looking = watch_of_all._looking
            await watch(two)
            assert watch_of_all._looking is looking
            await one.ask("user.watch", what="sessions", on=False, command_id="off")
            assert not looking.done()
            await two.ask("user.watch", what="sessions", on=False, command_id="off")
            assert watch_of_all._looking is None

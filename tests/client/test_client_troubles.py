"""The Python client and servers that refuse, vanish or talk nonsense."""

import asyncio
from http import HTTPStatus

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from moot.client.client import connect
from moot.client.link_errors import RemoteRefused, Unauthenticated, Unreachable
from moot.core.machines.connection import State
from tests.client.deadline import run
from tests.client.fake_server import SESSION, Visit, fake_server, respond

AT = "2026-01-01T00:00:00.000Z"


def test_a_wrong_token_is_told_at_once() -> None:
    """Accepted and closed with 4401; trying again is no use."""

    async def handle(visit: Visit) -> None:
        await visit.socket.close(4401)

    async def test() -> None:
        async with fake_server(handle) as server:
            with pytest.raises(Unauthenticated, match="does not take this token"):
                async with connect(server.url, "wrong"):
                    pass
            assert server.visits == 1

    run(test())


@pytest.mark.parametrize("status", [HTTPStatus.FORBIDDEN, HTTPStatus.UNAUTHORIZED])
def test_a_refused_upgrade_is_told_at_once(status: HTTPStatus) -> None:
    """Wrong Origin or Host: HTTP 403 before the upgrade."""

    async def test() -> None:
        async with fake_server(Visit.stay, respond(status)) as server:
            with pytest.raises(Unreachable):
                async with connect(server.url):
                    pass

    run(test())


def test_a_redirect_is_not_followed() -> None:
    """The token is for one server; whoever answers with another address does not get it sent there."""

    async def test() -> None:
        async with fake_server(Visit.stay) as other:
            there = respond(HTTPStatus.FOUND, location=other.url.replace("http", "ws"))
            async with fake_server(Visit.stay, there) as server:
                with pytest.raises(Unreachable, match="302"):
                    async with connect(server.url, "secret", open_s=0.2):
                        pass
            assert other.visits == 0

    run(test())


def test_nobody_there_is_told_with_a_hint() -> None:
    """What happened, what to do."""

    async def test() -> None:
        async with fake_server(Visit.stay) as server:
            url = server.url
        with pytest.raises(Unreachable, match="is `moot serve` running there"):
            async with connect(url, "secret", open_s=0.2):
                pass

    run(test())


def test_a_server_that_stays_away_is_given_up() -> None:
    """Connection machine: reconnect_timeout; whoever waits is told, nobody waits for ever."""

    async def handle(visit: Visit) -> None:
        await visit.greet()
        await visit.create()

    async def test() -> None:
        refuse: list[bool] = []

        def answer(connection: ServerConnection, request: Request) -> Response | None:
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "") if refuse else None

        async with fake_server(handle, answer) as server, connect(server.url, give_up_s=0.6) as client:
            session = await client.session()
            refuse.append(True)
            with pytest.raises(Unreachable, match="given up"):
                await session.submit("user.pause")
            with pytest.raises(Unreachable):
                await session.view()
            with pytest.raises(Unreachable):
                await client.session()
            assert client.state is State.DISCONNECTED

    run(test())


def test_nonsense_ends_the_link_and_not_the_client() -> None:
    """What cannot be read is not guessed at; a new link is opened."""

    async def handle(visit: Visit) -> None:
        if visit.number == 1:
            await visit.greet()
            await visit.socket.send("{")
            await visit.stay()
        await visit.greet()
        await visit.create()
        await visit.stay()

    async def test() -> None:
        async with fake_server(handle) as server, connect(server.url) as client:
            assert (await client.session()).id == SESSION
            assert server.visits == 2

    run(test())


def test_what_the_user_raises_comes_out_as_it_is() -> None:
    """Trio's rule: no task outlives its parent, and no group wraps the user's own error."""

    async def handle(visit: Visit) -> None:
        await visit.greet()
        await visit.stay()

    async def test() -> None:
        async with fake_server(handle) as server:
            with pytest.raises(KeyError):
                async with connect(server.url):
                    raise KeyError
        assert len(asyncio.all_tasks()) <= 2

    run(test())


def test_a_view_that_cannot_be_read_ends_the_handle_alone() -> None:
    """A newer server may show what this version cannot read; the reason is told, the link goes on."""

    async def handle(visit: Visit) -> None:
        await visit.greet()
        await visit.create()
        await visit.say("session.view", SESSION, seq=2, whole=True, view={"status": "dreaming"})
        await visit.stay()

    async def test() -> None:
        async with fake_server(handle) as server, connect(server.url) as client:
            session = await client.session()
            with pytest.raises(RemoteRefused, match="of another version"):
                async for _ in session.follow(1):
                    pass
            assert client.state is State.CONNECTED

    run(test())

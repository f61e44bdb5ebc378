"""What a window of `moot chat` opens: new sessions that are kept once they are used, and those of other projects."""

import asyncio
from argparse import Namespace
from pathlib import Path

import pytest

from moot.cli.hosting import opened
from moot.core.errors import ConfigError
from moot.core.session.commands import Post
from moot.tui.hosts import Host
from tests.cli.command import Moot
from tests.cli.serving import serving
from tests.cli.test_windows import write_team

NO_TEAM = "moot: 1\nname: b\nmembers:\n  - {id: ann, kind: human}\n  - {id: bob, kind: ai, agent: {type: %s}}\n"


def options(file: str, **others: object) -> Namespace:
    empty = {"session": None, "go_on": False, "title": "", "speaks_as": None, "plain": False, "store": None}
    return Namespace(**{"file": file, "connect": None, "data": None, **empty, **others})


async def list_used(host: Host) -> list[str]:
    return [entry.session_id for entry in await host.sessions()]


async def press_new_often(chosen: Namespace) -> None:
    """Start new sessions, use the second one, and leave."""
    async with opened(chosen) as (host, first, is_new):
        assert is_new
        assert {(await host.create()).id for _ in range(3)} == {first.id}
        await first.submit(Post(text="hello", by="ann"))
        second = (await host.create()).id
        assert second != first.id
        assert (await host.create()).id == second
        assert set(await list_used(host)) == {first.id, second}


@pytest.mark.parametrize("where", ["here", "attached", "connected"])
def test_a_new_session_is_kept_once_it_is_used(moot: Moot, tmp_path: Path, where: str) -> None:
    """Ctrl+N without a word takes the same session again, and leaving removes the one in which nothing was said."""
    file = write_team(tmp_path / "a", "a")
    if where == "here":
        asyncio.run(press_new_often(options(file)))
    else:
        with serving(moot.data, file) as server:
            url = f"{server.base}/#token={server.token}" if where == "connected" else None
            asyncio.run(press_new_often(options(file, connect=url)))
    assert [entry["messages"] for entry in moot("sessions", "list", "--json").objects] in ([1], [2])


@pytest.mark.parametrize("is_attached", [False, True])
def test_a_session_of_another_project_goes_on_with_its_own_team(
    moot: Moot, tmp_path: Path, *, is_attached: bool
) -> None:
    """Its team file is taken in when it is opened, so that its members answer."""
    one, two = write_team(tmp_path / "a", "a"), write_team(tmp_path / "b", "b")
    session_id, _ = moot.talk("hello", team=two)

    async def go_over() -> None:
        async with opened(options(one)) as (host, _, _):
            talk = await host.open(session_id)
            await talk.submit(Post(text="more", by="ann"))
            (entry,) = [each for each in await host.sessions() if each.session_id == session_id]
            assert entry.file == two
            async for frame in talk.frames():
                if frame["event"] == "message.posted" and frame["seq"] > 10 and frame["metadata"]["member"] == "bob":
                    assert frame["metadata"]["text"] == "from b"
                    return

    if is_attached:
        with serving(moot.data):
            asyncio.run(asyncio.wait_for(go_over(), 60))
    else:
        asyncio.run(asyncio.wait_for(go_over(), 60))


def test_a_session_whose_team_cannot_be_used_here_says_where(moot: Moot, tmp_path: Path) -> None:
    """A file that starts programs and is not trusted is not taken in; the sentence has the command that asks for it."""
    one, two = write_team(tmp_path / "a", "a"), write_team(tmp_path / "b", "b")
    session_id, _ = moot.talk("hello", team=two)
    Path(two).write_text(NO_TEAM % "cli, command: [touch, /tmp/evil]", encoding="utf-8")

    async def go_over() -> None:
        async with opened(options(one)) as (host, _, _):
            with pytest.raises(ConfigError, match=f"`moot chat {two} --session {session_id}` goes on with it"):
                await host.open(session_id)

    asyncio.run(go_over())

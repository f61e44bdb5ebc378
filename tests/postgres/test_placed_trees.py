"""Trees are files of one machine: a session that has some is acted for there, whoever else shares the log."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from moot.app import App, Session, open_app
from moot.core.session.commands import Post
from moot.core.session.events import NoticePosted, TurnCompleted
from moot.core.session.principal import Principal, Role
from moot.core.session.workspace_events import WorkspaceChanged, WorkspaceOpened
from moot.runtime.stores.postgres.nodes import Pace
from moot.runtime.stores.postgres.postgres_log import PgLog
from moot.runtime.stores.postgres.store import read_address
from tests.contract.logs import closing
from tests.postgres.cluster import check_history
from tests.runtime.apps import facts, run
from tests.runtime.workspaces.repositories import chat_team, make_repository

ANN = Principal(token_id="t", role=Role.OWNER, member="ann")
SHORT = Pace(beat_s=0.1, suspect_s=0.3, lease_s=1.0)
TEAM = chat_team({"text": "one", "files": {"one.py": "1"}}, {"text": "two", "files": {"two.py": "2"}})


@asynccontextmanager
async def machine(url: str, folder: Path, name: str) -> AsyncIterator[App]:
    """A node with a repository and trees of its own."""
    top = folder / name / "repository"
    if not top.exists():
        make_repository(top)
    async with (
        closing(await PgLog.open(read_address(url), read_address(url), name, SHORT)) as log,
        open_app(TEAM, store=log, folders={"pair": top}, trees=folder / name / "trees") as app,
    ):
        yield app


def post(text: str) -> Post:
    return Post(text=text, principal=ANN)


async def until_there(app: App, session: Session, kind: type, count: int = 1) -> None:
    """Wait until so many facts of a kind are in the log."""
    async for _ in app.log.follow(session.id):
        if len(await facts(app, session, kind)) >= count:
            return


@run
async def test_a_session_waits_for_the_machine_that_has_its_trees(pg_url: str, tmp_path: Path) -> None:
    """Nobody else acts for it; its people are told once what it waits for; when the machine is back, it goes on."""
    async with machine(pg_url, tmp_path, "b") as b:
        async with machine(pg_url, tmp_path, "a") as a:
            session = await a.session()
            await session.submit(post("[NEXT: bob] go"))
            await until_there(a, session, TurnCompleted)
        there = await b.session(session.id)
        await there.submit(post("[NEXT: bob] again"))
        await until_there(b, there, NoticePosted)
        [notice] = await facts(b, there, NoticePosted)
        place = (tmp_path / "a" / "trees" / ".place").read_text()
        assert (notice.code, notice.detail) == ("trees_missed", place)
        assert not b.sessions._engines[session.id].is_acting
        async with machine(pg_url, tmp_path, "a") as a:
            await until_there(b, there, TurnCompleted, 2)
            await check_history(a, await a.session(session.id))
        first, second = await facts(b, there, WorkspaceChanged)
        assert second.parent == first.commit
        assert len(await facts(b, there, WorkspaceOpened)) == 1
        assert len(await facts(b, there, NoticePosted)) == 1


@run
async def test_a_command_elsewhere_goes_on_where_the_trees_are(pg_url: str, tmp_path: Path) -> None:
    """Any node takes the message, also while nothing is due; the node with the trees plays the turn."""
    async with machine(pg_url, tmp_path, "a") as a, machine(pg_url, tmp_path, "b") as b:
        session = await a.session()
        await session.submit(post("[NEXT: bob] go"))
        await until_there(a, session, TurnCompleted)
        there = await b.session(session.id)
        await there.submit(post("[NEXT: bob] again"))
        await until_there(b, there, TurnCompleted, 2)
        first, second = await facts(b, there, WorkspaceChanged)
        assert second.parent == first.commit
        assert not b.sessions._engines[session.id].is_acting

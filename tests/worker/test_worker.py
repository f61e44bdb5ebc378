"""Members that run on another machine: their turns are played there, and the session is none the worse for it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from moot.client.address import read_address
from moot.config.workspace import WorkspaceSpec
from moot.core.errors import ConfigError
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import Answer, CancelTurn, Post
from moot.core.session.desk_events import FileShown
from moot.core.session.events import MessagePosted, TurnCancelled, TurnCompleted, TurnFailed, TurnSpent, TurnStepped
from moot.core.session.principal import Principal, Role
from moot.core.session.usage import Usage
from moot.gateway.auth import TOKENS_FILE
from moot.gateway.token_file import TokenFile
from moot.protocol.worker_frames import PATH, DeclineJob, Hello, ReportJob, Welcome, encode
from moot.runtime.ports import Delta, Desk, Output, Result, Step
from moot.worker.worker_link import WorkerLink, WorkerSettings
from tests.gateway.sites import OWNER
from tests.postgres.test_pg_writes import until
from tests.runtime.apps import Puppet, facts, has, run
from tests.worker.crews import FAR_PAIR, POOL, ServedNode, make_token, served, working

ALICE = Principal(token_id="t", role=Role.OWNER, member="alice")


def post(text: str) -> Post:
    return Post(text=text, principal=ALICE)


async def texts(on: ServedNode, session: object) -> list[str]:
    return [fact.text for fact in await facts(on.app, session, MessagePosted)]  # type: ignore[arg-type]


@pytest.fixture(params=["memory", "PostgreSQL"])
def store(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue("pg_url") if request.param == "PostgreSQL" else ""
    return url


@run
async def test_a_turn_is_played_by_a_worker(store: str, tmp_path: Path) -> None:
    """A member with `runs_on` speaks on the worker's machine; its answer is in the log as any other."""
    bob = Puppet()
    async with (
        served(tmp_path, FAR_PAIR, store) as node,
        working(FAR_PAIR, make_token(tmp_path, POOL), node.url, agents={"bob": bob}),
    ):
        session = await node.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        turn = await bob.is_called()
        assert turn.message is not None
        assert turn.message.text.strip() == "hello"
        bob.replies("from afar")
        await until(lambda: node.app.sessions._engines[session.id].state.is_settled)
        assert "from afar" in await texts(node, session)


def is_settled(node: ServedNode, session: object) -> bool:
    engine = node.app.sessions._engines.get(session.id)  # type: ignore[attr-defined]
    return engine is not None and engine.state.is_settled


class Asking:
    """An agent that writes, does something, asks for a permission, and says what it was told."""

    def __init__(self) -> None:
        self.asked = 0

    def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        raise NotImplementedError

    async def act_asking(self, turn: TurnInput, desk: Desk) -> AsyncGenerator[Output, None]:
        self.asked += 1
        yield Delta("well, ")
        yield Step(action="looked around")
        await desk.show_file("plan.txt", b"the plan")
        yield Result(text=f"told {await desk('may I?')}")


@run
async def test_a_worker_asks_shows_and_writes(store: str, tmp_path: Path) -> None:
    """Steps are logged, pieces are seen while they are written, files are kept, questions are answered."""
    bob = Asking()
    async with (
        served(tmp_path, FAR_PAIR, store) as node,
        working(FAR_PAIR, make_token(tmp_path), node.url, agents={"bob": bob}),
    ):
        seen: list[str] = []
        node.app.streams.listeners.add(lambda _, event, piece: seen.append(f"{event}:{piece['text']}"))
        session = await node.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        await until(lambda: node.app.sessions._engines[session.id].state.open_steps)
        [step] = (await session.state()).open_steps
        await session.submit(Answer(step_id=step, choice="allow", principal=ALICE))
        await until(lambda: is_settled(node, session))
        assert "told allow" in await texts(node, session)
        assert seen == ["turn.delta:well, "]
        assert [fact.action for fact in await facts(node.app, session, TurnStepped)] == ["looked around"]
        [shown] = await facts(node.app, session, FileShown)
        assert await node.app.log.get_file(session.id, shown.file.sha256) == b"the plan"
        assert bob.asked == 1


@run
async def test_without_a_worker_the_turn_fails_and_says_why(store: str, tmp_path: Path) -> None:
    """Nobody of the pool is connected: the floor comes back to a human at once."""
    async with served(tmp_path, FAR_PAIR, store) as node:
        session = await node.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        await until(lambda: is_settled(node, session))
        [failed] = await facts(node.app, session, TurnFailed)
        assert failed.message == f"no worker of pool {POOL} that plays team {FAR_PAIR.name} is connected"


@run
async def test_what_is_cancelled_stops_on_the_worker(store: str, tmp_path: Path) -> None:
    """Work can be steered while it runs, wherever that is."""
    bob = Puppet()
    async with (
        served(tmp_path, FAR_PAIR, store) as node,
        working(FAR_PAIR, make_token(tmp_path), node.url, agents={"bob": bob}) as link,
    ):
        session = await node.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        await bob.is_called()
        await session.submit(CancelTurn(principal=ALICE))
        await until(lambda: bob.killed)
        await until(lambda: not len(link.jobs))


@run
async def test_a_worker_that_stops_in_order_leaves_its_jobs_to_others(store: str, tmp_path: Path) -> None:
    """The next worker of the pool plays the turn again, at once."""
    first, second, token = Puppet(), Puppet(), make_token(tmp_path)
    async with (
        served(tmp_path, FAR_PAIR, store) as node,
        AsyncExitStack() as stack,
    ):
        one = AsyncExitStack()
        await one.enter_async_context(working(FAR_PAIR, token, node.url, agents={"bob": first}, name="one"))
        session = await node.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        await first.is_called()
        await stack.enter_async_context(working(FAR_PAIR, token, node.url, agents={"bob": second}, name="two"))
        await one.aclose()
        await second.is_called()
        second.replies("from two")
        await until(lambda: is_settled(node, session))
        assert len(await facts(node.app, session, TurnCompleted)) == 1


@run
async def test_a_server_that_is_gone_does_not_touch_the_worker(store: str, tmp_path: Path) -> None:
    """All connections break: the worker goes on, connects again, and its answer is logged once."""
    bob = Puppet()
    async with (
        served(tmp_path, FAR_PAIR, store) as node,
        working(FAR_PAIR, make_token(tmp_path), node.url, agents={"bob": bob}) as link,
    ):
        session = await node.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        await bob.is_called()
        assert link._socket
        link._socket.transport.abort()
        await until(lambda: not link.is_welcome.is_set())
        bob.replies("still here")
        await until(lambda: is_settled(node, session))
        assert (await texts(node, session)).count("still here") == 1
        assert len(bob.turns) == 1


@run
async def test_a_token_of_a_worker_is_good_for_nothing_else(tmp_path: Path) -> None:
    """It opens no page, no session and no socket of people, and no pool but its own; others' tokens take no jobs."""
    async with served(tmp_path, FAR_PAIR) as node:
        token = make_token(tmp_path, "another")
        async with httpx.AsyncClient(base_url=node.url, trust_env=False) as client:
            for path in ("/api/sessions", "/api/inbox", "/metrics"):
                answer = await client.get(path, headers={"authorization": f"Bearer {token}"})
                assert answer.status_code == 403
        headers = {"authorization": f"Bearer {token}"}
        async with connect(node.url.replace("http", "ws") + "/ws", additional_headers=headers, proxy=None) as socket:
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd
            assert closed.value.rcvd.code == 4403
        with pytest.raises(ConfigError, match="role worker"):
            async with working(FAR_PAIR, OWNER, node.url):
                pass
        with pytest.raises(ConfigError, match=f"not for pool {POOL}"):
            async with working(FAR_PAIR, token, node.url):
                pass
        hello = Hello(worker="w", name="w", pools=(POOL,), teams=("t",), at_once=1)
        url = node.url.replace("http", "ws") + PATH
        async with connect(url, additional_headers=headers, proxy=None) as socket:
            await socket.send(encode(hello)[0])
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd
            assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4403, f"this token is not for pool {POOL}")


class Spending(Puppet):
    """An agent that notes what it has spent, and goes on."""

    async def act_asking(self, turn: TurnInput, desk: Desk) -> AsyncGenerator[Output, None]:
        desk.spend(Usage(cost_usd=0.5))
        async for output in self.act(turn):
            yield output


@run
async def test_what_a_stopped_turn_had_cost_is_counted(store: str, tmp_path: Path) -> None:
    """As for a member on a server; the worker keeps nothing of the turn."""
    bob = Spending()
    async with (
        served(tmp_path, FAR_PAIR, store) as node,
        working(FAR_PAIR, make_token(tmp_path), node.url, agents={"bob": bob}),
    ):
        session = await node.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        await bob.is_called()
        await session.submit(CancelTurn(principal=ALICE))
        await has(node.app, session, "turn.spent")
        spent = await facts(node.app, session, TurnSpent)
        assert [(fact.member, fact.usage.cost_usd) for fact in spent] == [("bob", 0.5)]
        [cancelled] = await facts(node.app, session, TurnCancelled)
        assert spent[0].turn_id == cancelled.turn_id


NONSENSE = ({"type": "Nonsense"},)
TWO_STEPS = [({"type": "ReportStep", "turn_id": "t1", "action": action},) for action in ("a", "b")]


@pytest.mark.parametrize(
    ("frames", "why"),
    [
        ([(1, NONSENSE)], "no command 'Nonsense' of a worker"),
        ([(1, TWO_STEPS[0]), (1, TWO_STEPS[1])], "was used before with another body"),
        ([], "no such kind"),
    ],
    ids=["unreadable", "another under its number", "declined"],
)
@run
async def test_a_job_whose_worker_makes_no_sense_fails(
    frames: list[tuple[int, tuple[dict[str, str], ...]]], why: str, tmp_path: Path
) -> None:
    """Nobody waits for a worker that does not play, or that no server understands."""
    bob = Puppet()
    async with (
        served(tmp_path, FAR_PAIR) as node,
        working(FAR_PAIR, make_token(tmp_path), node.url, agents={"bob": bob}) as link,
    ):
        session = await node.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        await bob.is_called()
        [ref] = link.jobs
        for number, commands in frames:
            link._send(ReportJob(job=ref.job, attempt=ref.attempt, number=number, commands=commands))
        if not frames:
            link._send(DeclineJob(job=ref.job, attempt=ref.attempt, reason=why))
        await until(lambda: is_settled(node, session))
        [failed] = await facts(node.app, session, TurnFailed)
        assert why in failed.message
        await until(lambda: not len(link.jobs))
        assert bob.killed


@run
async def test_a_worker_whose_token_is_revoked_ends_and_says_why(tmp_path: Path) -> None:
    """No server will ever take it again."""
    token = make_token(tmp_path)
    async with served(tmp_path, FAR_PAIR) as node:
        settings = WorkerSettings(id="w", name="w", pools=(POOL,), teams=(FAR_PAIR.name,))
        nothing: Any = None  # there are no jobs to play
        link = WorkerLink([read_address(node.url, token)], settings, nothing)
        running = asyncio.create_task(link.run(asyncio.Event()))
        await link.is_welcome.wait()
        tokens = TokenFile(tmp_path / TOKENS_FILE)
        [known] = tokens.read()
        tokens.revoke(known.token_id)
        with pytest.raises(ConfigError, match=r"its token was revoked|needs a token"):
            await running


async def _refuse(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    writer.close()


async def _babble(socket: ServerConnection) -> None:
    await socket.send(encode(Welcome(lease_s=30.0))[0])
    await socket.send("what?")
    await socket.wait_closed()


@run
async def test_a_worker_goes_on_after_what_can_heal(tmp_path: Path) -> None:
    """A proxy that refuses, and a server that talks nonsense: it tries the next address."""
    token = make_token(tmp_path)
    async with (
        served(tmp_path, FAR_PAIR) as node,
        await asyncio.start_server(_refuse, "127.0.0.1", 0) as refusing,
        serve(_babble, "127.0.0.1", 0) as babbling,
    ):
        odd = [f"http://127.0.0.1:{next(iter(each.sockets)).getsockname()[1]}" for each in (refusing, babbling)]
        async with working(FAR_PAIR, token, *odd, node.url):
            await until(lambda: node.app.sessions.foreman.count() == 1)


@run
async def test_a_worker_has_an_empty_folder_for_a_member(store: str, tmp_path: Path) -> None:
    """A team without trees that shares no folder: the folder is the worker's."""
    team, bob = replace(FAR_PAIR, workspace=WorkspaceSpec(type="none")), Puppet()
    async with (
        served(tmp_path, team, store) as node,
        working(team, make_token(tmp_path), node.url, agents={"bob": bob}),
    ):
        session = await node.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        turn = await bob.is_called()
        assert turn.folder
        bob.replies("done")
        await until(lambda: is_settled(node, session))
        assert "done" in await texts(node, session)

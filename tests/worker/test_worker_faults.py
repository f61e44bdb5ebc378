"""Workers and servers that die, stop and are cut off: every turn ends once, and no agent is started without need."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot.app import Session
from moot.config.team_file import TeamFile
from moot.core.errors import Fenced, LogError
from moot.core.flows.plan.plan_commands import SolveTasks
from moot.core.flows.plan.plan_events import LeaseExpired
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import Answer, CompleteTurn
from moot.core.session.events import TurnCompleted
from moot.runtime.cluster import Sample, cluster_of
from moot.runtime.ports import CommandKey, Desk, Output, Result
from moot.runtime.stores.postgres.nodes import Pace
from moot.runtime.stores.postgres.postgres_log import PgLog
from moot.runtime.stores.postgres.store import PostgresStore, read_address
from moot.runtime.worker_jobs import HEAD_START_S, Job, JobRef, WorkerCard
from tests.contract.logs import append, closing
from tests.postgres.cluster import check_history, node
from tests.postgres.proxy import proxied
from tests.postgres.test_pg_writes import until
from tests.runtime.apps import Puppet, facts, run
from tests.runtime.plans import Hands, crew, planning, plays, task
from tests.worker.crews import FAR_PAIR, PATIENT, POOL, ServedNode, make_token, served, working
from tests.worker.test_worker import ALICE, Asking, is_settled, post, texts

QUICK = Pace(beat_s=0.1, suspect_s=0.3, lease_s=60.0, worker_lease_s=1.5)
CUT = Pace(beat_s=0.1, suspect_s=0.3, lease_s=3.0, worker_lease_s=60.0)


def has_lost_its_lease(server: ServedNode) -> bool:
    cluster = cluster_of(server.app.log)
    return cluster is not None and Sample("lease_left_seconds", 0.0) in cluster.measure()


async def is_over(server: ServedNode, session: object) -> None:
    await until(lambda: is_settled(server, session))


@asynccontextmanager
async def playing_elsewhere(
    pg_url: str, folder: Path, bob: Puppet
) -> AsyncIterator[tuple[ServedNode, ServedNode, Session]]:
    """Two servers: the first one acts for a session, of which a worker of the second one plays a turn."""
    async with (
        served(folder, FAR_PAIR, pg_url, "a", PATIENT) as a,
        served(folder, FAR_PAIR, pg_url, "b", PATIENT) as b,
        working(FAR_PAIR, make_token(folder), b.url, agents={"bob": bob}),
    ):
        session = await a.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        await bob.is_called()
        yield a, b, session


@run
async def test_the_owner_dies_under_a_worker(pg_url: str, tmp_path: Path) -> None:
    """Another node takes over and finds the turn being played: the agent is not started again."""
    bob = Puppet()
    async with playing_elsewhere(pg_url, tmp_path, bob) as (a, b, session):
        assert a.owns(session.id)
        assert a.proxy
        a.proxy.stop_flow()
        a.proxy.reset_all()  # nothing comes through any more
        await until(lambda: b.owns(session.id))
        bob.replies("from afar")
        await is_over(b, session)
        assert len(bob.turns) == 1
        assert not bob.killed
        assert (await texts(b, session)).count("from afar") == 1
        await check_history(b.app, session)
        a.proxy.resume()


@run
async def test_the_server_of_a_worker_is_cut_off(pg_url: str, tmp_path: Path) -> None:
    """It sends the worker away, which goes on through another server; what it asked there is answered here."""
    bob, token = Asking(), make_token(tmp_path)
    async with (
        served(tmp_path, FAR_PAIR, pg_url, "a", PATIENT) as a,
        served(tmp_path, FAR_PAIR, pg_url, "b", CUT) as b,
        working(FAR_PAIR, token, b.url, a.url, agents={"bob": bob}),
    ):
        session = await a.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        await until(lambda: a.app.sessions._engines[session.id].state.open_steps)
        assert b.proxy
        b.proxy.stop_flow()  # nothing passes and nothing is closed
        await until(lambda: a.app.sessions.foreman.count() == 1)
        [step] = (await session.state()).open_steps
        await session.submit(Answer(step_id=step, choice="allow", principal=ALICE))
        await is_over(a, session)
        assert "told allow" in await texts(a, session)
        assert bob.asked == 1
        await check_history(a.app, session)
        b.proxy.resume()


@run
async def test_a_server_that_has_lost_its_lease_takes_no_workers(pg_url: str, tmp_path: Path) -> None:
    """It could claim jobs and not attend to them: a worker that comes to it goes to another server and plays there."""
    bob, token = Puppet(), make_token(tmp_path)
    async with (
        proxied(pg_url) as beats,
        served(tmp_path, FAR_PAIR, pg_url, "a", PATIENT) as a,
        served(tmp_path, FAR_PAIR, pg_url, "b", CUT, direct_url=beats.url) as b,
    ):
        beats.stop_flow()  # all else of it goes on
        await until(lambda: has_lost_its_lease(b))
        async with working(FAR_PAIR, token, b.url, a.url, agents={"bob": bob}):
            session = await a.app.session()
            await session.submit(post("[NEXT: bob] hello"))
            await bob.is_called()
            bob.replies("from afar")
            await is_over(a, session)
        beats.resume()


@run
async def test_a_server_that_has_lost_its_lease_claims_no_jobs(pg_url: str) -> None:
    """Its workers may not all have heard yet that they are sent away."""
    card = WorkerCard(id="w", name="w", pools=(POOL,), teams=("pair",))
    async with node(pg_url, "a") as a:
        await a.log.jobs.greet(card, [])
        a.log.node._lose("as the test wants it")
        with pytest.raises(LogError, match="cut off"):
            await a.log.jobs.claim(card, 1)


@run
async def test_a_server_stops_in_order_under_a_worker(pg_url: str, tmp_path: Path) -> None:
    """A rolling restart: the worker goes to the other server and does not notice more."""
    bob, token = Puppet(), make_token(tmp_path)
    async with served(tmp_path, FAR_PAIR, pg_url, "a", PATIENT) as a:
        async with AsyncExitStack() as stack:
            b = await stack.enter_async_context(served(tmp_path, FAR_PAIR, pg_url, "b", PATIENT))
            worker = AsyncExitStack()
            await worker.enter_async_context(working(FAR_PAIR, token, b.url, a.url, agents={"bob": bob}))
            session = await b.app.session()
            await session.submit(post("[NEXT: bob] hello"))
            await bob.is_called()
        await until(lambda: a.owns(session.id) and a.app.sessions.foreman.count() == 1)
        bob.replies("from afar")
        await is_over(a, session)
        assert (len(bob.turns), bob.killed) == (1, [])
        await check_history(a.app, await a.app.session(session.id))
        await worker.aclose()


@run
async def test_a_worker_that_is_killed_is_stood_in_for(pg_url: str, tmp_path: Path) -> None:
    """Its lease runs out: another worker plays the turn; what the first one still reports is refused."""
    first, second, token = Puppet(), Puppet(), make_token(tmp_path)
    async with (
        served(tmp_path, FAR_PAIR, pg_url, "a", QUICK) as a,
        served(tmp_path, FAR_PAIR, pg_url, "b", QUICK) as b,
        working(FAR_PAIR, token, b.url, agents={"bob": first}, name="one") as link,
    ):
        session = await a.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        turn = await first.is_called()
        [held] = link.jobs
        b.front.stop_flow()
        async with working(FAR_PAIR, token, a.url, agents={"bob": second}, name="two"):
            await second.is_called()
            assert first.killed  # by the watchdog, before the other one began
            engine, ref = a.app.sessions._engines[session.id], JobRef(held.job, held.attempt)
            late = CompleteTurn(turn_id=turn.turn_id, text="too late")
            with pytest.raises(Fenced):
                await engine.report_job(ref, CommandKey("late", "d"), [late])
            second.replies("in time")
            await is_over(a, session)
        said = await texts(a, session)
        assert (said.count("in time"), said.count("too late")) == (1, 0)
        assert len(await facts(a.app, session, TurnCompleted)) == 1
        await check_history(a.app, session)


@run
async def test_a_worker_that_is_started_anew_gives_its_old_jobs_up(pg_url: str, tmp_path: Path) -> None:
    """Nobody waits for the lease of a process that is known to be gone."""
    first, second, token = Puppet(), Puppet(), make_token(tmp_path)
    async with served(tmp_path, FAR_PAIR, pg_url, "a", PATIENT) as a:
        async with working(FAR_PAIR, token, a.url, agents={"bob": first}, is_kept=True):
            session = await a.app.session()
            await session.submit(post("[NEXT: bob] hello"))
            await first.is_called()
        async with working(FAR_PAIR, token, a.url, agents={"bob": second}):
            await second.is_called()
            second.replies("again")
            await is_over(a, session)
            assert (await texts(a, session)).count("again") == 1


class Forgetful(Asking):
    """Asks, and when it is told hears nothing more of the world until somebody else plays its turn."""

    async def act_asking(self, turn: TurnInput, desk: Desk) -> AsyncGenerator[Output, None]:
        self.asked += 1
        self.told = await desk("may I?")
        await asyncio.Event().wait()
        yield Result(text="never")


@run
async def test_a_turn_that_is_played_again_is_told_what_was_answered(pg_url: str, tmp_path: Path) -> None:
    """People are not asked twice: the next worker has the answer before it asks."""
    first, second, token = Forgetful(), Asking(), make_token(tmp_path)
    async with served(tmp_path, FAR_PAIR, pg_url, "a", PATIENT) as a:
        async with working(FAR_PAIR, token, a.url, agents={"bob": first}, is_kept=True):
            session = await a.app.session()
            await session.submit(post("[NEXT: bob] hello"))
            await until(lambda: a.app.sessions._engines[session.id].state.open_steps)
            [step] = (await session.state()).open_steps
            await session.submit(Answer(step_id=step, choice="allow", principal=ALICE))
            await until(lambda: getattr(first, "told", None))
        async with working(FAR_PAIR, token, a.url, agents={"bob": second}):
            await is_over(a, session)
            assert "told allow" in await texts(a, session)


def far_crew() -> TeamFile:
    team = crew(planning(), plays("wu"))
    members = tuple(replace(member, runs_on=POOL) if member.id == "wu" else member for member in team.members)
    return replace(team, members=members)


@run
async def test_tasks_on_workers_outlive_the_owner(pg_url: str, tmp_path: Path) -> None:
    """The next owner voids the leases of workers that ended with the last one, and of no others."""
    team, token = far_crew(), make_token(tmp_path)
    hands = Hands()
    async with (
        served(tmp_path, team, pg_url, "a", PATIENT) as a,
        served(tmp_path, team, pg_url, "b", PATIENT) as b,
        working(team, token, b.url, agents={"wu": hands}),
    ):
        session = await a.app.session()
        await session.submit(SolveTasks(tasks=(task("a"), task("b", "a")), principal=ALICE))
        await until(lambda: hands.at_work)
        assert a.owns(session.id)
        assert a.proxy
        a.proxy.stop_flow()
        a.proxy.reset_all()
        await until(lambda: b.owns(session.id))
        hands.finish("a")
        await until(lambda: hands.given == ["a", "b"])
        hands.finish("b")
        await is_over(b, session)
        assert await facts(b.app, session, LeaseExpired) == []
        await check_history(b.app, session)
        a.proxy.resume()


@run
async def test_a_job_that_is_over_is_withdrawn_without_its_owner(pg_url: str, tmp_path: Path) -> None:
    """Whoever hosts the worker sees the end, too: the node that offered the job may be gone by then."""
    bob = Puppet()
    async with playing_elsewhere(pg_url, tmp_path, bob) as (a, b, session):
        assert a.proxy
        a.proxy.stop_flow()  # it has its lease for long
        there = await b.app.session(session.id)
        bob.replies("done")
        await is_over(b, there)

        async def count_jobs() -> int:
            pools = (await PostgresStore(pg_url).read_status()).pools
            return sum(pool.waiting + pool.under_way for pool in pools)

        while await count_jobs():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        a.proxy.resume()


@run
async def test_a_job_that_nobody_looks_after_goes_to_who_finds_it(pg_url: str, tmp_path: Path) -> None:
    """Owner and worker are gone for good: another worker takes the job when its lease has run out long ago."""
    pace = Pace(lease_s=60.0, worker_lease_s=0.2)
    async with closing(await PgLog.open(read_address(pg_url), read_address(pg_url), "a", pace)) as log:
        await append(log, "s")
        job = Job(session_id="s", turn_id="t1", kind="turn", pool=POOL, team="pair", member="bob", input=b"{}")
        await log.jobs.offer(job)
        first, second = [WorkerCard(id=name, name=name, pools=(POOL,), teams=("pair",)) for name in ("first", "second")]
        for card in (first, second):
            await log.jobs.greet(card, [])
        assert len(await log.jobs.claim(first, 1)) == 1
        assert await log.jobs.claim(second, 1) == []
        claimed: list[Job] = []
        while not claimed:
            await asyncio.sleep(0.05)
            claimed = await log.jobs.claim(second, 1)
        assert claimed[0].ref.attempt == 2


@run
async def test_a_worker_that_let_a_lease_run_out_has_no_head_start(pg_url: str) -> None:
    """Its server may be unable to attend to the job: if it were first each time, nobody else would ever play it."""
    pace = Pace(lease_s=60.0, worker_lease_s=HEAD_START_S + 0.1)
    async with closing(await PgLog.open(read_address(pg_url), read_address(pg_url), "a", pace)) as log:
        await append(log, "s")
        job = Job(session_id="s", turn_id="t1", kind="turn", pool=POOL, team="pair", member="bob", input=b"{}")
        number = (await log.jobs.offer(job)).job
        first, second = [WorkerCard(id=name, name=name, pools=(POOL,), teams=("pair",)) for name in ("first", "second")]
        for card in (first, second):
            await log.jobs.greet(card, [])
        [claimed] = await log.jobs.claim(first, 1)
        while not (await log.jobs.look([number]))[number].is_late:
            await log.jobs.renew(first.id, [])  # it lives
            await asyncio.sleep(0.05)
        await log.jobs.offer_again(claimed.ref)
        assert [each.ref.attempt for each in await log.jobs.claim(second, 1)] == [2]

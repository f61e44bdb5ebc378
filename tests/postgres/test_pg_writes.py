"""Appends to PostgreSQL take effect once, whatever becomes of the connection, under the right head and epoch."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from moot.core.codec import Event, Head
from moot.core.errors import ConfigError, Conflict, Diverged, Fenced, LogError, NotFound, Unusable
from moot.runtime.cluster import News, PoolStatus, Stake, Standing
from moot.runtime.ports import CommandKey
from moot.runtime.stores.postgres.links import Link
from moot.runtime.stores.postgres.nodes import Pace
from moot.runtime.stores.postgres.postgres_log import PgLog
from moot.runtime.stores.postgres.statements import APPEND, APPENDS, CREATE, CREATES
from moot.runtime.stores.postgres.store import PostgresStore, read_address
from moot.runtime.worker_jobs import Job
from tests.contract.logs import SUMMARY, append, closing, make_events, run, verify
from tests.postgres.fixtures import Servers
from tests.postgres.proxy import proxied

CUTS = 200
QUICK = Pace(beat_s=0.1, suspect_s=0.3, lease_s=2.0)
DUE = Stake(due=True, claims=True)


class Quiet:
    """A listener that notes what it is told."""

    def __init__(self) -> None:
        self.heard: dict[str, int] = {}
        self.taken: list[str] = []
        self.gone: list[str] = []
        self.let_go_count = 0
        self.missed: list[tuple[str, str, int]] = []
        self.shown: list[tuple[str, str, str, str]] = []

    def hear(self, session_id: str, seq: int) -> None:
        self.heard[session_id] = seq

    def forget(self, session_id: str) -> None:
        self.gone.append(session_id)

    def take_over(self, session_id: str) -> None:
        self.taken.append(session_id)

    def miss(self, session_id: str, place: str, epoch: int) -> None:
        self.missed.append((session_id, place, epoch))

    def let_go(self) -> None:
        self.let_go_count += 1

    def show(self, session_id: str, event: str, turn_id: str, text: str) -> None:
        self.shown.append((session_id, event, turn_id, text))

    def list_followed(self) -> Sequence[str]:
        return list(self.heard)


@asynccontextmanager
async def opened(url: str, name: str = "a", pace: Pace = QUICK) -> AsyncIterator[PgLog]:
    async with closing(await PgLog.open(read_address(url), read_address(url), name, pace)) as log:
        yield log


@run
async def test_an_append_is_planned_once_and_reads_no_table_as_a_whole(pg_url: str) -> None:
    """A kept plan must not be one that was best while the tables were empty."""
    link, plans = Link(read_address(pg_url), plans_once=True), list[str]()
    async with link.connected() as connection:
        for name, text in (("one", APPEND), ("many", APPENDS), ("creation", CREATE), ("creations", CREATES)):
            await connection.execute(f"PREPARE {name} AS {text}")
            values = ", ".join(["NULL"] * (20 if text in (CREATE, CREATES) else 21))
            rows = await connection.fetch(f"EXPLAIN (VERBOSE) EXECUTE {name} ({values})")
            plans.append("\n".join(row[0] for row in rows))
    await link.close()
    for plan in plans:
        assert "Seq Scan" not in plan
        assert "$20" in plan, "it was planned for these values alone"
    one, many, creation, creations = plans
    assert "Function Scan" not in one + creation, "an append alone needs no arrays"
    assert "unnest($1" in many
    assert "unnest($1" in creations


@asynccontextmanager
async def joined(url: str, name: str = "a", pace: Pace = QUICK) -> AsyncIterator[tuple[PgLog, Quiet]]:
    async with opened(url, name, pace) as log:
        listener = Quiet()
        await log.cluster.join(listener, lambda: ["pair"])
        yield log, listener


async def until(condition: Callable[[], object]) -> None:
    """Wait for a condition that nothing tells of."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def once(text: bytes) -> Callable[[bytes], bool]:
    """True for the first data with this text."""
    armed = [True]
    return lambda data: text in data and bool(armed) and armed.pop()


@pytest.mark.slow
@run
async def test_an_append_whose_answer_is_lost_takes_effect_once(pg_url: str) -> None:
    """The connection breaks after the commit and before the answer: it is sent again, and found by its tag."""
    async with proxied(pg_url) as proxy, opened(proxy.url) as log:
        head = (await append(log, "a"))[-1].head
        for number in range(CUTS):
            proxy.drops_answer_to = once(b"hello")
            events = make_events("a", head, 1, f"hello {number}")
            await log.append("a", head, events, command=CommandKey(f"c{number}", "d"))
            head = events[-1].head
        assert proxy.cuts == CUTS
        assert log.in_doubt_count >= CUTS
        assert await verify(log, "a") == head == Head(CUTS + 1, head.hash)
        assert await log.find_command("a", f"c{CUTS - 1}") is not None


@run
async def test_a_creation_whose_answer_is_lost_takes_effect_once(pg_url: str) -> None:
    """The same holds for the first append of a session."""
    async with proxied(pg_url) as proxy, opened(proxy.url) as log:
        for number in range(5):
            proxy.drops_answer_to = once(b"hello")
            await log.append(f"s{number}", Head(), make_events(f"s{number}"), summary=SUMMARY)
        assert [await verify(log, f"s{n}") for n in range(5)] == [make_events(f"s{n}")[-1].head for n in range(5)]
        assert proxy.cuts == 5


@run
async def test_two_equal_appends_are_two(pg_url: str) -> None:
    """Who expects the same head with the same bytes is not taken for the one that was faster."""
    async with opened(pg_url) as one, opened(pg_url, "b") as two:
        head = (await append(one, "a"))[-1].head
        events = make_events("a", head)
        await one.append("a", head, events)
        with pytest.raises(Conflict):
            await two.append("a", head, events)


@run
async def test_who_waits_can_be_cancelled_and_the_commit_goes_on(pg_url: str) -> None:
    """No CancelRequest is sent for a write: it would make a commit visible before a standby has it."""
    async with proxied(pg_url) as proxy, opened(proxy.url) as log:
        head = (await append(log, "a"))[-1].head
        for number in range(20):
            events = make_events("a", head, 1, f"n{number}")
            task = asyncio.create_task(log.append("a", head, events))
            await asyncio.sleep(0 if number % 2 else 0.001)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await append(log, f"other{number}")  # behind it in the queue
            head = await log.head("a")
            assert head == events[-1].head
        assert proxy.cancel_requests == 0


@run
async def test_ownership_is_taken_by_the_append_that_makes_work_due(pg_url: str) -> None:
    """The first owner has epoch 1; others do not take what is in hands; what an owner writes has its epoch."""
    async with joined(pg_url) as (one, _), joined(pg_url, "b") as (two, _):
        first = make_events("a")
        standing = await one.cluster.append("a", Head(), first, summary=SUMMARY, stake=DUE)
        assert (standing.is_mine, standing.epoch) == (True, 1)
        second = make_events("a", first[-1].head)
        standing = await two.cluster.append("a", first[-1].head, second, stake=DUE)
        assert (standing.is_mine, standing.epoch) == (False, 1)
        third = make_events("a", second[-1].head)
        standing = await one.cluster.append("a", second[-1].head, third, stake=Stake(due=False, epoch=1))
        assert standing.is_mine
        fourth = make_events("a", third[-1].head)
        standing = await two.cluster.append("a", third[-1].head, fourth, stake=DUE)  # nothing was due: b takes it
        assert (standing.is_mine, standing.epoch) == (True, 2)
        late = make_events("a", fourth[-1].head)
        with pytest.raises(Fenced):
            await one.cluster.append("a", fourth[-1].head, late, stake=Stake(due=True, epoch=1))
        assert await verify(one, "a") == fourth[-1].head


@run
async def test_news_come_with_who_acts(pg_url: str) -> None:
    """Events and epoch are of one moment; a head of another history is Diverged; no session is NotFound."""
    async with joined(pg_url) as (one, _), joined(pg_url, "b") as (two, _):
        events = make_events("a", count=3)
        await one.cluster.append("a", Head(), events, summary=SUMMARY, stake=DUE)
        news = await two.cluster.catch_up("a", events[0].head)
        assert (news.events, news.standing.is_mine, news.standing.epoch) == (events[1:], False, 1)
        assert await one.cluster.catch_up("a", events[-1].head) == News([], Standing(is_mine=True, epoch=1))
        for lost in (Head(2, "0" * 64), Head(9, events[-1].hash)):
            with pytest.raises(Diverged):
                await two.cluster.catch_up("a", lost)
        with pytest.raises(NotFound):
            await two.cluster.catch_up("nobody", Head())


@run
async def test_a_decision_under_the_lock_is_not_overtaken(pg_url: str) -> None:
    """While a session is held nobody else appends; the others wait for the row and find out why they lost."""
    async with joined(pg_url) as (one, _), joined(pg_url, "b") as (two, _):
        head = (await append(one, "a"))[-1].head
        others = make_events("a", head, 1, "other")
        async with one.cluster.locked("a", Head()) as hold:
            assert [event.seq for event in hold.news.events] == [1]
            waiting = asyncio.create_task(two.append("a", head, others))
            free = asyncio.create_task(two.append("b", Head(), make_events("b"), summary=SUMMARY))
            await free  # another session is not held up
            mine = make_events("a", head, 2, "mine")
            standing = await hold.append(mine, command=CommandKey("c", "d"), summary=None, stake=DUE)
            assert standing.is_mine
        with pytest.raises(Conflict):
            await waiting
        assert await one.read("a", 1) == mine
        with pytest.raises(LogError):
            async with one.cluster.locked("nobody", Head()):
                pass


@run
async def test_a_hold_that_fails_leaves_nothing(pg_url: str) -> None:
    """An error in the block rolls back, and others can append at once."""
    async with joined(pg_url) as (log, _):
        head = (await append(log, "a"))[-1].head
        with pytest.raises(ZeroDivisionError):  # noqa: PT012
            async with log.cluster.locked("a", head) as hold:
                await hold.append(make_events("a", head), command=None, summary=None, stake=DUE)
                raise ZeroDivisionError
        assert await log.head("a") == head
        await append(log, "a")


@run
async def test_who_waits_for_a_held_append_cancels_nothing_on_the_server(pg_url: str) -> None:
    """As for every write; the transaction ends with its connection, and others can append at once."""
    async with proxied(pg_url) as proxy, joined(proxy.url) as (log, _):
        head = (await append(log, "a"))[-1].head
        async with opened(pg_url, "b") as other:
            with pytest.raises(asyncio.CancelledError):  # noqa: PT012
                async with log.cluster.locked("a", head) as hold:
                    proxy.stop_flow()  # so that the answer is waited for
                    events = make_events("a", head)
                    appending = asyncio.create_task(hold.append(events, command=None, summary=None, stake=DUE))
                    await asyncio.sleep(0)
                    appending.cancel()
                    try:
                        await appending
                    finally:
                        proxy.resume()
            assert proxy.cancel_requests == 0
            await append(other, "a")


@run
async def test_a_held_append_whose_answer_is_lost_takes_effect_once(pg_url: str) -> None:
    """The COMMIT of a decision under the lock may be in doubt, too."""
    async with proxied(pg_url) as proxy, joined(proxy.url) as (log, _):
        head = (await append(log, "a"))[-1].head
        for _ in range(10):
            proxy.drops_answer_to = lambda data: b"COMMIT" in data
            events = make_events("a", head)
            async with log.cluster.locked("a", head) as hold:
                await hold.append(events, command=None, summary=None, stake=DUE)
                proxy.drops_answer_to = lambda data: b"COMMIT" in data
            proxy.drops_answer_to = lambda _: False
            head = events[-1].head
            assert await log.head("a") == head
        assert proxy.cuts >= 10


@run
async def test_followers_and_nodes_hear_of_each_other(pg_url: str) -> None:
    """What one node appends the others' followers get; removal ends them."""
    async with joined(pg_url) as (one, _), joined(pg_url, "b") as (two, heard):
        await append(one, "a")
        got: list[Event] = []

        async def follow() -> None:
            async for batch in two.follow("a"):
                got.extend(batch)

        following = asyncio.create_task(follow())
        for _ in range(20):
            await append(one, "a")
        await until(lambda: len(got) == 21)
        assert [event.seq for event in got] == list(range(1, 22))
        await until(lambda: heard.heard.get("a") == 21)
        await one.remove("a", "2026-01-01T00:00:00.000Z")
        await following
        assert "a" in heard.gone


@run
async def test_a_lost_wake_up_is_made_up_for(pg_url: str) -> None:
    """A node that was not told finds out by looking."""
    async with joined(pg_url) as (one, _), joined(pg_url, "b") as (two, _):
        await append(one, "a")
        following = aiter(two.follow("a"))
        await anext(following)
        one._teller.tell_head = lambda *_: None  # type: ignore[method-assign]
        await append(one, "a")
        assert [event.seq for event in await anext(following)] == [2]
        await following.aclose()  # type: ignore[attr-defined]


def test_a_server_that_restarts_loses_nothing(pg_servers: Servers) -> None:
    """Fast or as by a crash: appends wait, and each takes effect once."""
    url, server = pg_servers.database(), pg_servers.find()

    def restart() -> None:
        server.restart(signal.SIGINT)
        server.restart(signal.SIGQUIT)

    async def load() -> None:
        async with opened(url) as log:
            head = (await append(log, "a"))[-1].head
            restarting = asyncio.gather(asyncio.to_thread(restart))
            while not restarting.done():
                events = make_events("a", head)
                await log.append("a", head, events)
                head = events[-1].head
            await restarting
            assert await verify(log, "a") == head

    asyncio.run(asyncio.wait_for(load(), 120))


def test_a_server_that_would_lose_commits_is_refused(pg_servers: Servers) -> None:
    """A server without fsync, or without tables, is not used; the sentence says what to do."""
    server = pg_servers.find()
    server.run_sql("CREATE DATABASE empty")
    empty = server.url.replace("/postgres", "/empty")
    with pytest.raises(Unusable, match="moot db init"):
        asyncio.run(PostgresStore(empty).open())
    server.run_sql(["ALTER SYSTEM SET full_page_writes = off", " SELECT pg_reload_conf()"][0])
    server.run_sql("SELECT pg_reload_conf()")
    try:
        with pytest.raises(Unusable, match="full_page_writes"):
            asyncio.run(PostgresStore(server.url).open())
    finally:
        server.run_sql("ALTER SYSTEM RESET full_page_writes")
        server.run_sql("SELECT pg_reload_conf()")


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("postgresql://db.example/moot?sslmode=disable", "sslmode=disable"),
        ("postgresql://db.example/moot?sslmode=require", "verify-full"),
        ("postgresql:///moot", "names no server"),
    ],
)
def test_an_address_that_is_not_safe_is_refused(url: str, sentence: str) -> None:
    """Beyond this machine the server must prove who it is; an address without a server is none."""
    with pytest.raises(ConfigError, match=sentence):
        read_address(url)


def test_an_address_is_shown_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """The password is in no message; TLS is the default beyond this machine, and not on it."""
    address = read_address("postgresql://ann:secret@db.example:5433/moot?application_name=x")
    assert address.shown == "postgresql://ann@db.example:5433/moot"
    assert address.url.endswith("&sslmode=verify-full")
    assert "sslmode" not in read_address("postgresql://ann:secret@127.0.0.1/moot").url
    assert "secret" not in str(PostgresStore("postgresql://ann:secret@localhost/moot"))
    monkeypatch.setenv("MOOT_INSECURE_STORE", "1")
    assert read_address("postgresql://db.example/moot?sslmode=disable").url.endswith("disable")


def test_a_pooler_cannot_carry_the_listening_connection(pg_servers: Servers) -> None:
    """In transaction mode nothing would ever be heard: that is found out at the start."""
    pooled = pg_servers.pooled(pg_servers.database())
    with pytest.raises(LogError, match=r"MOOT_STORE_DIRECT|pooler|startup parameter"):
        asyncio.run(PostgresStore(pooled).open())


@run
async def test_a_restored_database_belongs_to_nobody(pg_url: str) -> None:
    """Owners and jobs of the backup are gone, the lineage is new, the log stays, and a node takes up what is due."""
    store = PostgresStore(pg_url)
    async with opened(pg_url) as log:
        await log.cluster.join(Quiet(), lambda: ["team"])
        events = make_events("a", Head())
        standing = await log.cluster.append("a", Head(), events, summary=SUMMARY, stake=DUE)
        assert standing.is_mine
        job = Job(session_id="a", turn_id="t1", kind="turn", pool="far", team="team", member="bob", input=b"{}")
        await log.jobs.offer(job)
        before = await store.read_status()
        assert before.pools == [PoolStatus("far", workers=0, waiting=1, under_way=0)]
        assert (before.unowned_due, len(before.nodes)) == (0, 1)
        log.node._tasks[0].cancel()  # it is gone, without a word
        await store.initialise(after_restore=True)
        status = await store.read_status()
        assert (status.pools, status.due, status.unowned_due, status.nodes) == ([], 1, 1, [])
        assert status.lineage != before.lineage
        assert await verify(log, "a") == events[-1].head
        late, stake = make_events("a", events[-1].head), Stake(due=True, epoch=standing.epoch)
        with pytest.raises(Fenced):  # what the node of then still reports
            await log.cluster.append("a", events[-1].head, late, stake=stake)


@run
async def test_a_log_closes_while_it_connects(pg_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing ends a connection that is being made; it is not taken for one that broke, and made again."""
    is_connecting = asyncio.Event()

    async def never(*_: object) -> None:
        is_connecting.set()
        await asyncio.Event().wait()

    async with opened(pg_url) as log:
        monkeypatch.setattr("moot.runtime.stores.postgres.nodes.check_durability", never)
        log.node._drop()
        await is_connecting.wait()

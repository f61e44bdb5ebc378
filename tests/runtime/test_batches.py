"""Commands that wait are decided together and logged with one append: each gets its own answer, and gets it once."""

import asyncio
from typing import Any

import pytest

from moot.app import App, Session
from moot.core.codec import Event, Head, stamp
from moot.core.decide import Decided, decide
from moot.core.errors import CommandReused, Conflict, Refused, StorageFull
from moot.core.facts import Fact
from moot.core.flows.plan.plan_commands import SolveTasks
from moot.core.flows.plan.plan_settings import PlanSettings
from moot.core.session.commands import Answer, Command, CompleteTurn, Pause, Post, Resume
from moot.core.session.events import MessagePosted, TurnFailed
from moot.core.session.state import State
from moot.core.session.team import Team
from moot.runtime.inbox import BATCH, PendingCommand
from moot.runtime.ports import CommandKey, Receipt
from moot.runtime.stores.memory import MemoryLog
from moot.testing import VirtualClock
from moot.testing.clock import rest
from tests.runtime.apps import TRIO, Puppet, facts, open_on, read, run, say, until
from tests.runtime.broken_logs import FullLog, SlowLog
from tests.runtime.plans import crew, planning, plays, task


class CountingLog(SlowLog):
    """How many events each append had."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    async def append(self, session_id: str, expected: Head, events: Any, **fields: Any) -> None:
        self.sizes.append(len(events))
        await super().append(session_id, expected, events, **fields)


async def held(log: SlowLog, session: Session) -> "asyncio.Task[Receipt]":
    """A command that is on its way to the disk, so that what comes next has to wait."""
    log.gate.clear()
    first = asyncio.create_task(session.submit(Post(text="first")))
    await until(lambda: log.waiting == 1)
    return first


def send(session: Session, *texts: str, keys: dict[str, CommandKey] | None = None) -> "list[asyncio.Task[Receipt]]":
    return [asyncio.create_task(session.submit(Post(text=text), (keys or {}).get(text))) for text in texts]


async def said(app: App, session: Session) -> list[str]:
    return [message.text for message in await facts(app, session, MessagePosted)]


@run
async def test_what_waits_is_one_append_in_order() -> None:
    """Ten commands that wait for a slow disk share an append, in the order in which they were sent."""
    log = CountingLog()
    async with open_on(log, TRIO) as app:
        session = await app.session()
        first = await held(log, session)
        sent = send(session, *[f"{n}" for n in range(10)])
        await rest()
        appends = len(log.sizes)
        log.gate.set()
        receipts = await asyncio.gather(first, *sent)
        assert len(log.sizes) == appends + 1
        assert await said(app, session) == ["first", *[f"{n}" for n in range(10)]]
        assert [receipt.seq for receipt in receipts[1:]] == [(await read(app, session))[-1].seq] * 10


@run
async def test_workers_that_are_done_together_share_an_append() -> None:
    """Ten tasks side by side: one append offers them, one takes and starts them, one completes them."""
    log, clock = CountingLog(), VirtualClock()
    team = crew(planning(), plays("wu", "done"), plan=PlanSettings(max_parallel=10))
    async with open_on(log, team, clock=clock, max_tasks=10) as app:
        session = await app.session()
        await session.submit(SolveTasks(tasks=tuple(task(f"t{n}") for n in range(10))))
        offered = len(log.sizes)
        await clock.advance(0)
        assert log.sizes[offered : offered + 2] == [20, 12]  # with the last result the answer is begun


@run
async def test_an_append_takes_so_many_commands_and_no_more() -> None:
    """What is beyond the limit of a batch is in the next one; nobody is forgotten."""
    log = CountingLog()
    async with open_on(log, TRIO) as app:
        session = await app.session()
        first = await held(log, session)
        texts = [f"{n}" for n in range(2 * BATCH + 5)]
        sent = send(session, *texts)
        await rest()
        appends = len(log.sizes)
        log.gate.set()
        await asyncio.gather(first, *sent)
        assert len(log.sizes) == appends + 3
        assert await said(app, session) == ["first", *texts]


@run
async def test_a_refused_command_takes_no_other_with_it() -> None:
    """Of three commands in a batch the one in the middle is refused; the two others are logged."""
    log = SlowLog()
    async with open_on(log, TRIO) as app:
        session = await app.session()
        first = await held(log, session)
        [one] = send(session, "one")
        refused = asyncio.create_task(session.submit(Answer(step_id="nothing", confirmed=True)))
        [two] = send(session, "two")
        await rest()
        log.gate.set()
        await asyncio.gather(first, one, two)
        with pytest.raises(Refused, match="unknown_step"):
            await refused
        assert await said(app, session) == ["first", "one", "two"]


@run
async def test_each_command_sees_what_those_before_it_led_to() -> None:
    """In one batch, what can be done once is done by the first; the second is refused."""
    log, bob = SlowLog(), Puppet()
    async with open_on(log, TRIO, agents={"bob": bob}) as app:
        session = await app.session()
        await session.submit(Post(text="[NEXT: bob] hello"))
        turn = await bob.is_called()
        engine = await app.sessions.open(session.id)
        first = await held(log, session)
        ends = [asyncio.create_task(engine._report(CompleteTurn(turn_id=turn.turn_id, text=text))) for text in "ab"]
        await rest()
        log.gate.set()
        await asyncio.gather(first, *ends)
        assert await said(app, session) == [" hello", "first", "a"]


@run
async def test_keys_in_a_batch_count_once_each() -> None:
    """Commands with ids, sent together and twice, are each done once; an id with another body is refused."""
    log = SlowLog()
    async with open_on(log, TRIO) as app:
        session = await app.session()
        first = await held(log, session)
        texts = ["a", "b", "a", "plain", "b", "c"]
        keys = {text: CommandKey(text, f"body of {text}") for text in "abc"}
        sent = send(session, *texts, keys=keys)
        wrong = asyncio.create_task(session.submit(Post(text="d"), CommandKey("a", "another body")))
        await rest()
        log.gate.set()
        a, b, again_a, _, again_b, _ = await asyncio.gather(*sent)
        await first
        with pytest.raises(CommandReused):
            await wrong
        assert (a, b) == (again_a, again_b)
        assert await said(app, session) == ["first", "a", "b", "plain", "c"]


@run
async def test_a_full_disk_refuses_all_of_a_batch() -> None:
    """Every sender is told, nothing is logged, and all of them may try again."""

    class Filling(SlowLog, FullLog):
        pass

    log = Filling()
    async with open_on(log, TRIO) as app:
        session = await app.session()
        first = await held(log, session)
        sent = send(session, "one", "two", "three")
        await rest()
        log.is_full = True
        log.gate.set()
        outcomes = await asyncio.gather(first, *sent, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [StorageFull] * 4
        log.is_full = False
        await asyncio.gather(*send(session, "one", "two", "three"))
        assert await said(app, session) == ["one", "two", "three"]


class LateLog(MemoryLog):
    """Somebody else appends first, once, while a batch is on its way."""

    is_late = False
    before: Any = None

    async def append(self, session_id: str, expected: Head, events: Any, **fields: Any) -> None:
        if self.is_late:
            self.is_late = False
            await self.before()
            raise Conflict("somebody was faster")
        await super().append(session_id, expected, events, **fields)


@run
async def test_what_was_refused_stays_refused_after_a_conflict() -> None:
    """Who was told no is not logged when the batch is decided again on what somebody else wrote meanwhile."""
    log = LateLog()
    async with open_on(log, TRIO) as app, open_on(log, TRIO, agents={"bob": Puppet()}) as other:
        session = await app.session()
        there = await other.session(session.id)
        engine = await app.sessions.open(session.id)

        async def pause_there() -> None:
            await there.submit(Post(text="[NEXT: bob] hello"))
            await there.submit(Pause())

        log.before = pause_there
        log.is_late = True
        asked = [PendingCommand(command) for command in (Resume(), Post(text="mine"))]
        engine._inbox.waiting += asked
        engine._is_writing = True
        await engine._write_batch()
        with pytest.raises(Refused, match="nothing_to_resume"):
            await asked[0].receipt()
        assert (await asked[1].receipt()).seq == (await read(app, session))[-1].seq
        assert "mine" in await said(app, session)
        assert [event.name for event in await read(app, session)].count("session.activated") == 1


@run
async def test_who_works_for_others_is_cancelled() -> None:
    """The ones whose commands it was logging are told; what was not taken yet is logged by somebody else."""
    log = SlowLog()
    async with open_on(log, TRIO) as app:
        session = await app.session()
        engine = await app.sessions.open(session.id)
        log.gate.clear()
        pumping = asyncio.create_task(engine._enqueue([Post(text="one")]))
        await until(lambda: log.waiting == 1)
        waiting = send(session, "two", "three")
        await rest()
        pumping.cancel()
        await asyncio.wait([pumping])
        log.gate.set()
        await asyncio.gather(*waiting)
        assert await said(app, session) == ["one", "two", "three"]  # a commit that was begun is not taken back
        assert engine.is_idle
        seqs = [event.seq for event in await read(app, session)]
        assert seqs == list(range(1, len(seqs) + 1))


@run
async def test_a_closing_app_logs_what_was_accepted() -> None:
    """Commands that wait while the app closes are answered one way or the other: nobody hangs."""
    log = SlowLog()
    async with open_on(log, TRIO) as app:
        session = await app.session()
        first = await held(log, session)
        sent = send(session, "one", "two")
        await rest()
        asyncio.get_running_loop().call_soon(log.gate.set)
    outcomes = await asyncio.gather(first, *sent, return_exceptions=True)
    assert all(isinstance(outcome, Receipt) for outcome in outcomes)
    async with open_on(log, TRIO) as app:
        assert await said(app, session) == ["first", "one", "two"]


def test_what_cannot_be_written_takes_no_other_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three commands in a batch the facts of one cannot be encoded: it fails, the two others are logged."""

    def stamp_or_not(team: Team, session_id: str, head: Head, given: list[Fact], *rest: Any) -> list[Event]:
        if any(isinstance(fact, MessagePosted) and fact.text == "poison" for fact in given):
            raise TypeError("no JSON")
        return stamp(team, session_id, head, given, *rest)

    monkeypatch.setattr("moot.runtime.journal.stamp", stamp_or_not)

    @run
    async def play() -> None:
        log = SlowLog()
        async with open_on(log, TRIO) as app:
            session = await app.session()
            first = await held(log, session)
            sent = send(session, "one", "poison", "two")
            await rest()
            log.gate.set()
            outcomes = await asyncio.gather(first, *sent, return_exceptions=True)
            assert [type(outcome) for outcome in outcomes] == [Receipt, Receipt, TypeError, Receipt]
            assert await said(app, session) == ["first", "one", "two"]

    play()


@pytest.mark.parametrize("raised", [KeyError("a"), TypeError("no JSON")])
def test_a_result_that_nobody_can_make_sense_of_is_a_failed_turn(
    raised: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What goes wrong while a result is decided upon fails the turn; the app and its other sessions go on."""

    def decide_or_not(state: State, command: Command, *context: Any, **more: Any) -> Decided:
        if isinstance(command, CompleteTurn) and command.text == "nonsense":
            raise raised
        return decide(state, command, *context, **more)

    monkeypatch.setattr("moot.runtime.journal.decide", decide_or_not)

    @run
    async def play() -> None:
        clock, bob = VirtualClock(), Puppet()
        async with open_on(MemoryLog(), TRIO, clock=clock, agents={"bob": bob}) as app:
            session, other = await app.session(), await app.session()
            await session.submit(Post(text="[NEXT: bob] hello"))
            await bob.is_called()
            bob.replies("nonsense")
            await clock.advance(5)
            assert [fact.error_type for fact in await facts(app, session, TurnFailed)] == ["agent"]
            assert (await session.state()).is_settled
            assert (await say(other, "[NEXT: carol] hello"))[-1] == "session.paused"

    play()


@run
async def test_a_human_is_answered_while_workers_keep_reporting() -> None:
    """Who logs for others does so once: a command is answered as soon as it is durable, however many come behind it."""
    log = SlowLog()
    async with open_on(log, TRIO) as app:
        session = await app.session()
        engine = await app.sessions.open(session.id)
        noise = 0

        async def chatter() -> None:
            nonlocal noise
            while noise < 1_000:
                noise += 1
                engine._inbox.waiting.append(PendingCommand(Post(text="noise")))
                await asyncio.sleep(0)

        async def ask() -> int:
            await engine.submit(Post(text="me"))
            return noise

        log.gate.clear()
        asking = asyncio.create_task(ask())
        await until(lambda: log.waiting == 1)
        chattering = asyncio.create_task(chatter())
        log.gate.set()
        assert await asking < 100
        chattering.cancel()

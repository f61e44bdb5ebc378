"""The handshake with workers, at its real timeouts: not taken, not started, dead, late."""

import asyncio
from collections.abc import Collection

import pytest

from moot.agents.script import ScriptEntry
from moot.app import Session, build, open_app
from moot.core.flows.plan.plan_events import (
    DispatchNacked,
    DispatchRequested,
    LeaseExpired,
    MemberUnavailable,
    SolverCompleted,
    TaskFailed,
)
from moot.core.flows.plan.plan_settings import PlanSettings, Retry
from moot.core.flows.plan.plan_slice import PlanSlice
from moot.core.flows.turns import TurnInput
from moot.core.machines.task import TaskState
from moot.core.session.commands import AckDispatch, Answer, CompleteTurn, StartTask, WorkerCommand
from moot.core.session.events import StepAsked
from moot.core.session.state import Message
from moot.runtime.ports import Handle, Report, Show, ToolJob, Worker
from moot.runtime.stores.memory import MemoryLog
from moot.runtime.understanding.rules.understand import RulesUnderstander
from moot.testing import VirtualClock
from tests.runtime.apps import facts, names, open_on, run
from tests.runtime.plans import Hands, answer, completed, crew, planning, plays, solve, states, task


class FarWorker:
    """A worker elsewhere, as the server sees it: it says what the test lets it say."""

    def __init__(self, turn: TurnInput, report: Report) -> None:
        self.turn = turn
        self.is_alive = True
        self.is_in_line = False
        self.is_told_to_stop = False
        self.answers: list[tuple[str, str | None]] = []
        self._report = report

    def cancel(self) -> None:
        self.is_told_to_stop = True

    def answer(self, step_id: str, choice: str | None, answer: str | None = None) -> None:
        self.answers.append((step_id, choice))

    def bring(self, number: int, message: Message) -> None:
        """It takes no messages."""

    async def says(self, *commands: WorkerCommand) -> None:
        await self._report(*commands)

    async def takes(self) -> None:
        dispatch_id = self.turn.turn_id
        await self._report(AckDispatch(dispatch_id=dispatch_id), StartTask(dispatch_id=dispatch_id))

    async def finishes(self, text: str = "done") -> None:
        await self._report(CompleteTurn(turn_id=self.turn.turn_id, text=text))


class FarDispatch:
    """Hands out work to far workers; jobs that are no task's are done at once."""

    def __init__(self) -> None:
        self.workers: list[FarWorker] = []

    def start(self, turn: TurnInput, team: str, report: Report, show: Show) -> Worker:
        worker = FarWorker(turn, report)
        asyncio.ensure_future(worker.finishes("all of it"))  # noqa: RUF006 - the engine waits for its report
        return worker

    def offer(self, turn: TurnInput, team: str, report: Report, show: Show) -> Worker:
        self.workers.append(FarWorker(turn, report))
        return self.workers[-1]

    async def list_live(self, session_id: str) -> Collection[str]:
        return ()

    def release(self, session_id: str) -> None:
        """Nothing is kept."""

    def call(self, job: ToolJob, report: Report) -> Handle:
        raise NotImplementedError


class Site:
    """An app with far workers."""

    def __init__(self, *members: object, **plan: object) -> None:
        self.clock, self.far, self.log = VirtualClock(), FarDispatch(), MemoryLog()
        self.team = crew(planning(), *(members or (plays("wu"),)), plan=PlanSettings(**plan))  # type: ignore[arg-type]
        self._tasks = asyncio.TaskGroup()

    async def __aenter__(self) -> "Site":
        tasks = await self._tasks.__aenter__()
        self.app = build(tasks, [self.team], self.log, self.clock, self.far, lambda _: RulesUnderstander())
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.app.sessions.close()
        await self._tasks.__aexit__(*error)  # type: ignore[arg-type]

    async def solve(self, *tasks: dict[str, object]) -> Session:
        return await solve(self.app, self.clock, *tasks)


@run
async def test_nobody_takes_a_task_for_thirty_seconds() -> None:
    """Then it counts as not taken, and after the delay it is offered again, to another if there is one."""
    async with Site(plays("wu"), plays("xi")) as site:
        session = await site.solve(task("a"))
        await site.clock.advance(29.999)
        assert await facts(site.app, session, DispatchNacked) == []
        await site.clock.advance(0.001)
        [nack] = await facts(site.app, session, DispatchNacked)
        assert (nack.member, nack.reason) == ("wu", "timeout")
        assert site.far.workers[0].is_told_to_stop
        await site.clock.advance(1)
        assert [fact.member for fact in await facts(site.app, session, DispatchRequested)] == ["wu", "xi"]
        await site.far.workers[1].takes()
        await site.far.workers[1].finishes()
        await site.clock.advance(0)
        assert await answer(site.app, session) == "all of it"


@run
async def test_an_ack_that_comes_too_late_changes_nothing() -> None:
    """After the task was given to another, the first worker's ack, start and result are stale."""
    async with Site(plays("wu"), plays("xi")) as site:
        session = await site.solve(task("a"))
        await site.clock.advance(31)
        late, new = site.far.workers
        await new.takes()
        before = await names(site.app, session)
        await late.takes()
        await late.finishes("too late")
        assert await names(site.app, session) == before
        assert late.is_told_to_stop
        await new.finishes("in time")
        assert [fact.result for fact in await facts(site.app, session, SolverCompleted)] == ["in time"]


@run
async def test_a_result_without_a_start_is_no_result() -> None:
    """Who was offered a task and says that it is done, but never took it, is not believed."""
    async with Site() as site:
        session = await site.solve(task("a"))
        await site.far.workers[0].finishes("surprise")
        assert await facts(site.app, session, SolverCompleted) == []
        await site.far.workers[0].takes()
        await site.far.workers[0].finishes()
        assert await completed(site.app, session) == ["a"]


@run
async def test_a_task_that_is_taken_and_never_started() -> None:
    """After half an hour it counts as not taken; unless its worker says that it waits in line for room."""
    async with Site() as site:
        session = await site.solve(task("a"), task("b"))
        idle, waiting = site.far.workers
        for worker in (idle, waiting):
            await worker.says(AckDispatch(dispatch_id=worker.turn.turn_id))
        waiting.is_in_line = True
        await site.clock.advance(1_800)
        assert [fact.task_id for fact in await facts(site.app, session, DispatchNacked)] == ["a"]
        await site.clock.advance(3_600)
        assert [fact.task_id for fact in await facts(site.app, session, DispatchNacked)].count("b") == 0
        waiting.is_in_line = False
        await site.clock.advance(1_800)
        assert [fact.task_id for fact in await facts(site.app, session, DispatchNacked)].count("b") == 1


@run
async def test_two_results_of_one_dispatch() -> None:
    """The first one counts, also when both are on their way at once."""
    async with Site() as site:
        session = await site.solve(task("a"))
        worker = site.far.workers[0]
        await worker.takes()
        await asyncio.gather(worker.finishes("one"), worker.finishes("two"))
        assert [fact.result for fact in await facts(site.app, session, SolverCompleted)] == ["one"]


@pytest.mark.parametrize("has_started", [True, False])
@run
async def test_a_worker_that_dies_without_a_word(has_started: bool) -> None:
    """At most 30 s later its task is offered again as the same attempt; its own result comes too late."""
    async with Site() as site:
        session = await site.solve(task("a"))
        dead = site.far.workers[0]
        await dead.says(AckDispatch(dispatch_id="d1"))
        if has_started:
            await dead.says(StartTask(dispatch_id="d1"))
        await site.clock.advance(60)
        assert len(site.far.workers) == 1
        dead.is_alive = False
        await site.clock.advance(30)
        assert [fact.reason for fact in await facts(site.app, session, LeaseExpired)] == ["lost"]
        new = site.far.workers[1]
        assert new.turn.assignment is not None
        assert new.turn.assignment.attempt == 1
        assert new.turn.index == dead.turn.index
        await dead.finishes("a ghost")
        await new.takes()
        await new.finishes("alive")
        assert [fact.result for fact in await facts(site.app, session, SolverCompleted)] == ["alive"]


@run
async def test_leases_end_with_the_process() -> None:
    """After a restart nobody waits for workers that are gone: what they had is offered again at once."""
    log, clock, hands = MemoryLog(), VirtualClock(), Hands()
    team = crew(planning(), plays("wu"))
    async with open_on(log, team, clock=clock, agents={"wu": hands}) as app:
        session = await solve(app, clock, task("a"), task("b"))
    async with open_on(log, team, clock=clock, agents={"wu": hands}) as app:
        await app.recover()
        await clock.advance(0)
        expired = await facts(app, session, LeaseExpired)
        assert [(fact.task_id, fact.reason) for fact in expired] == [("a", "restarted"), ("b", "restarted")]
        offers = await facts(app, session, DispatchRequested)
        assert [(fact.dispatch_id, fact.is_again) for fact in offers[2:]] == [("d3", True), ("d4", True)]
        assert hands.given == ["a", "b", "a", "b"]


@run
async def test_a_task_that_hangs_is_ended_after_half_an_hour() -> None:
    """It fails with a timeout, its worker is stopped, and it is tried again a second later."""
    clock, hands = VirtualClock(), Hands()
    async with open_app(crew(planning(), plays("wu")), clock=clock, agents={"wu": hands}) as app:
        session = await solve(app, clock, task("a"))
        await clock.advance(1_799.999)
        assert await facts(app, session, TaskFailed) == []
        await clock.advance(0.001)
        assert [fact.error_type for fact in await facts(app, session, TaskFailed)] == ["timeout"]
        assert hands.stopped == ["a"]
        await clock.advance(1)
        hands.finish("a")
        await clock.advance(0)
        assert await answer(app, session) == "all of it"


@run
async def test_who_refuses_a_task_is_asked_last() -> None:
    """A nack before the start is no failed execution: the task goes to the next executor after the delay."""
    clock, hands = VirtualClock(), Hands()
    hands.reasons = {"wu": ["busy"]}
    team = crew(planning(), plays("wu"), plays("xi"))
    async with open_app(team, clock=clock, agents={"wu": hands, "xi": hands}) as app:
        session = await solve(app, clock, task("a"))
        assert states(await session.state())["a"] is TaskState.DISPATCH_FAILED
        await clock.advance(1)
        assert [turn.member.id for turn in hands.turns] == ["xi"]
        assert hands.turns[0].assignment is not None
        assert hands.turns[0].assignment.attempt == 1
        assert await facts(app, session, TaskFailed) == []
        hands.finish("a")
        await clock.advance(0)
        assert await answer(app, session) == "all of it"


@run
async def test_a_refusal_that_fails_is_a_refusal() -> None:
    """An agent that raises when it is asked whether it takes a task does not take it; the app goes on."""

    class Broken(Hands):
        def refuse(self, turn: TurnInput) -> str | None:
            raise RuntimeError(f"not {turn.task_id}")

    clock = VirtualClock()
    team = crew(planning(), plays("wu"), plays("xi", "done"))
    async with open_app(team, clock=clock, agents={"wu": Broken()}) as app:
        session = await solve(app, clock, task("a"))
        assert [fact.reason for fact in await facts(app, session, DispatchNacked)] == ["RuntimeError: not a"]
        await clock.advance(1)
        assert await answer(app, session) == "all of it"


@run
async def test_after_refusals_by_all_a_human_decides_and_reassigns() -> None:
    """Four offers that nobody takes block the task; the human gives it to a member by name."""
    clock, hands = VirtualClock(), Hands()
    hands.reasons = {"wu": ["busy"] * 4}
    team = crew(planning(), plays("wu"), plays("xi", role="painter"))
    async with open_app(team, clock=clock, agents={"wu": hands, "xi": hands}) as app:
        session = await solve(app, clock, task("a"))
        await clock.advance(20)
        [step] = (await session.state()).open_steps.values()
        assert (step.code, step.error_type) == ("task_failed", "dispatch")
        await session.submit(Answer(step_id=step.step_id, choice="reassign", answer="xi"))
        await clock.advance(0)
        assert [turn.member.id for turn in hands.turns] == ["xi"]
        hands.finish("a")
        await clock.advance(0)
        assert await answer(app, session) == "all of it"


@run
async def test_a_member_that_takes_nothing_is_left_alone_and_probed() -> None:
    """Five refusals in a row: nothing is offered for the base delay, then one task; its ack lets the others follow."""
    clock, hands = VirtualClock(), Hands()
    hands.reasons = {"wu": ["busy"] * 5}
    settings = PlanSettings(max_parallel=5, retry=Retry(max_attempts=3, base_delay_s=10))
    team = crew(planning(), plays("wu"), plan=settings)
    async with open_app(team, clock=clock, agents={"wu": hands}, max_tasks=5) as app:
        session = await solve(app, clock, *[task(f"t{n}") for n in range(5)])
        assert [fact.failures for fact in await facts(app, session, MemberUnavailable)] == [5]
        offered = len(await facts(app, session, DispatchRequested))
        await clock.advance(9.999)
        assert len(await facts(app, session, DispatchRequested)) == offered == 5
        await clock.advance(0.001)
        assert (await facts(app, session, DispatchRequested))[5].task_id == hands.given[0]
        await clock.advance(0)
        assert len(hands.at_work) == 5
        work = (await session.state()).part(PlanSlice).current
        assert work is not None
        assert not work.slots["wu"].is_open
        for task_id in hands.at_work:
            hands.finish(task_id)
        await clock.advance(0)
        assert await answer(app, session) == "all of it"


@run
async def test_a_storm_of_refusals_comes_to_a_rest() -> None:
    """A member that refuses everything for ever is not asked a thousand times: humans are, once a task."""
    clock = VirtualClock()
    wu = plays("wu", ScriptEntry(nack="never"))
    async with open_app(crew(planning(), wu), clock=clock) as app:
        session = await solve(app, clock, *[task(f"t{n}") for n in range(20)])
        await clock.advance(3_600)
        offers = await facts(app, session, DispatchRequested)
        assert len(offers) == 20 * 4
        assert len(await facts(app, session, StepAsked)) == 20
        assert (await session.state()).is_settled

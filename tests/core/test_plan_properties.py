"""The promises of the plan flow, over sessions that hypothesis makes up: failures, timers, leases, people, garbage."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from moot.core import states
from moot.core.codec import Head, decode, stamp
from moot.core.decide import Decided, create, decide
from moot.core.effects import Deadline, RunTask, RunTurn, Understand
from moot.core.errors import Refused
from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.flows.plan import plan_events as plan
from moot.core.flows.plan.jobs import REVIEWS
from moot.core.flows.plan.plan_events import PLAN_FACTS, AggregateReviewed, TaskSentBack, TasksTakeTurns
from moot.core.flows.plan.plan_settings import PlanSettings, Retry
from moot.core.flows.plan.plan_slice import PlanSlice, find_work
from moot.core.flows.plan.plan_state import TaskRun
from moot.core.flows.plan.runs import as_task
from moot.core.flows.plan.tasks import plan_hash
from moot.core.machines.interrupt import STOPPED
from moot.core.machines.session import Status
from moot.core.outstanding import outstanding
from moot.core.session import commands
from moot.core.session.commands import Command
from moot.core.session.events import (
    SessionCompleted,
    SessionPaused,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    UnderstandingCompleted,
    UnderstandingStarted,
)
from moot.core.session.settings import Budget
from moot.core.session.state import State
from moot.core.session.team import Team
from moot.testing import analyse, task
from tests.core.plan_moves import Move, aim, histories, next_of_task, state_of
from tests.core.plan_teams import AGGREGATOR, REVIEWER, make_plan_team, worker
from tests.core.teams import fold, only

AT = "2026-01-01T00:00:00.000Z"


def limit(team: Team, turns: dict[str, int]) -> Team:
    """The team with budgets for some of its members."""
    budgets = {name: Budget(max_turns=most) for name, most in turns.items()}
    return replace(
        team, members=tuple(replace(each, budget=budgets.get(each.id, each.budget)) for each in team.members)
    )


teams = st.builds(
    lambda humans, reviewed, edited, concurrency, confirm, parallel, retry, gates, understanding, budget, turns: limit(
        make_plan_team(
            worker("w1", 20, concurrency=concurrency),
            worker("w2", 21),
            *([REVIEWER] if reviewed else []),
            *([AGGREGATOR] if edited else []),
            humans=("alice", "adam")[:humans],
            understanding=understanding,
            plan=PlanSettings(
                confirm=confirm,
                max_parallel=parallel,
                retry=retry,
                max_rework=1,
                review=gates[0],
                final_review=gates[1],
            ),
            budget=budget,
        ),
        turns,
    ),
    st.integers(1, 2),
    st.sampled_from([True, True, False]),
    st.booleans(),
    st.integers(0, 2),
    st.sampled_from(["always", "always", "never"]),
    st.integers(1, 4),
    st.builds(Retry, max_attempts=st.sampled_from([0, 1, 2, 9]), base_delay_s=st.sampled_from([0.0, 1.0])),
    st.tuples(st.booleans(), st.booleans()),
    st.sampled_from(["rules", "rules", "explicit"]),
    st.builds(Budget, max_turns=st.sampled_from([0, 0, 0, 6])),
    st.sampled_from([{}, {}, {"planner": 1}, {"w1": 1, "critic": 2}, {"w2": 2, "editor": 1}]),
)
opening = [Move("say", 0, "write a report"), Move("understand", 0, None)]


def check_never_stuck(decided: Decided) -> None:
    """Running, or waiting for a named human who can act, or over; and the log says which."""
    now, last = decided.state, decided.facts[-1] if decided.facts else None
    due = outstanding(now)
    moving = [each for each in due if isinstance(each, RunTurn | RunTask | Understand | Deadline)]
    at_work = [each for each in due if isinstance(each, RunTurn | RunTask)]
    work = find_work(now) if now.slice.is_active else None
    if now.status is Status.ACTIVE:
        assert moving, "active, and nothing happens"
    if now.status is Status.PAUSED:
        assert not at_work, "a human has the floor, and members work"
        assert last is None or isinstance(last, SessionPaused)
        assert now.waiting_for is None or now.team.member(now.waiting_for).is_human
        waits = now.door.inputs or now.open_steps or now.interrupt in STOPPED
        assert work is None or waits, "work is under way, and nobody is asked"
    if now.status is Status.COMPLETED:
        assert isinstance(last, SessionCompleted)
        assert not due


def check_limits(now: State) -> None:
    """No more dispatches than the plan and each member allow."""
    work = find_work(now)
    if work is None:
        return
    under_way = [work.tasks[task_id] for task_id in work.dispatches.values()]
    assert len(under_way) <= now.team.plan.max_parallel
    assert all(run.dispatch_id == dispatch for run, dispatch in zip(under_way, work.dispatches, strict=True))
    assert len({run.agent_id for run in under_way}) == len(under_way)
    for member, count in Counter(run.member for run in under_way).items():
        assert count <= (now.team.member(member).concurrency or now.team.plan.max_parallel)


def runs_of(now: State) -> dict[str, TaskRun]:
    return now.part(PlanSlice).current.tasks if find_work(now) else {}


class Watch:
    """Follows the facts: what was approved, what is done."""

    def __init__(self) -> None:
        self.documents: dict[str, object] = {}
        self.done: set[str] = set()
        self.offered: dict[str, str] = {}  # dispatch id → task id

    def see(self, before: State, fact: Fact) -> None:
        self._see_dispatch(fact)
        match fact:
            case plan.WorkflowChanged(was=None):
                self.documents, self.done = {}, set()
                assert self.offered == {}, "the work before left a worker behind"
            case plan.PlanApproved():
                assert self.offered == {}, "the plan before left a worker behind"
                assert fact.plan_hash == plan_hash([as_task(each) for each in fact.tasks])
                assert set(fact.kept) <= {task_id for task_id, run in runs_of(before).items() if run.is_finished}
                self.documents = {each["id"]: each for each in fact.tasks}
                self.done = {each for each in fact.kept if not runs_of(before)[each].is_skipped}
            case plan.PlanPatched():
                self.documents = {each["id"]: each for each in fact.tasks}
            case plan.DispatchRequested(task_id=task_id):
                self._check_start(before, task_id)
            case plan.SolverStarted():
                assert self.documents[fact.task["id"]] == fact.task, "what runs is what was approved"
                self._check_start(before, fact.task["id"])
            case plan.SolverCompleted(awaits_review=False):
                self._finish(fact.task["id"])
            case plan.TaskReviewed(passed=True):
                self._finish(fact.task_id)

    def _see_dispatch(self, fact: Fact) -> None:
        """Each ends once: refused, done, failed, lost, or stopped."""
        match fact:
            case plan.DispatchRequested():
                assert fact.task_id not in self.offered.values(), "offered twice at once"
                self.offered[fact.dispatch_id] = fact.task_id
            case plan.DispatchNacked() | plan.SolverCompleted() | plan.TaskFailed() | plan.LeaseExpired():
                del self.offered[fact.dispatch_id]
            case plan.SolverCancelled() | plan.SolverRestarted():
                task_id = fact.task["id"]
                self.offered = {each: other for each, other in self.offered.items() if other != task_id}
            case _:
                pass

    def _check_start(self, before: State, task_id: str) -> None:
        assert task_id not in self.done
        runs = runs_of(before)
        assert all(runs[needed].is_finished for needed in runs[task_id].task.depends_on)

    def _finish(self, task_id: str) -> None:
        assert task_id not in self.done, "done twice"
        self.done.add(task_id)


def play(team: Team, history: list[Move]) -> tuple[list[Fact], State]:
    decided = create(commands.CreateSession(team=team))
    now, facts, watch = decided.state, list(decided.facts), Watch()
    for move in history:
        command: Command = aim(move, now)
        before = states.encode(now)
        try:
            decided = decide(now, command, AT)
        except Refused:
            assert states.encode(now) == before
            continue
        for fact in decided.facts:
            watch.see(now, fact)
            now = evolve(now, fact)
        assert now == decided.state
        facts += decided.facts
        check_never_stuck(decided)
        check_limits(now)
        assert watch.offered == (now.part(PlanSlice).current.dispatches if find_work(now) else {})
    return facts, now


def check_turns(facts: list[Fact], final: State) -> None:
    """Each turn of a planner, reviewer or aggregator starts once and ends once, unless it still runs."""
    started = [fact.turn_id for fact in only(facts, TurnStarted)]
    ends = Counter(fact.turn_id for fact in facts if isinstance(fact, TurnCompleted | TurnFailed | TurnCancelled))
    assert started == [f"t{number}" for number in range(1, len(started) + 1)]
    assert ends + Counter(turn.turn_id for turn in final.running) == Counter(started)


def check_replay(team: Team, facts: list[Fact], final: State) -> None:
    """Stored and read again, the facts give the same state, byte for byte."""
    events = stamp(team, "session-1", Head(), facts, AT)
    read_back = [decode(event.data, event.hash) for event in events]
    assert read_back == events
    assert states.encode(fold(event.fact for event in read_back)) == states.encode(final)
    assert states.decode(states.encode(final)) == final


@pytest.mark.slow
def test_plans_keep_the_promises() -> None:
    """Never stuck, dependencies kept, nothing done twice, limits kept, replay byte-equal; every fact is met."""
    seen: Counter[str] = Counter()

    @settings(max_examples=250)
    @given(teams, histories)
    def explore(team: Team, history: list[Move]) -> None:
        facts, final = play(team, [opening[0], *history])
        check_replay(team, facts, final)
        check_turns(facts, final)
        seen.update(fact.event for fact in facts)

    explore()
    kinds: list[type[Fact]] = [*PLAN_FACTS, UnderstandingStarted, UnderstandingCompleted]
    kinds.remove(TasksTakeTurns)  # only of members that edit: test_workspace.py
    kinds.remove(AggregateReviewed)  # only at the end of plans with every gate: test_plan_review.py
    kinds.remove(TaskSentBack)  # only where Moot makes trees: test_workspace.py
    assert [kind.event for kind in kinds if not seen[kind.event]] == []


def go_on(now: State) -> Command | None:
    """What members, timers and people who want to get it done do next; None when there is nothing left to do."""
    for step in now.open_steps.values():
        option = next((each.id for each in step.options if each.id in WILLING), None)
        return commands.Answer(step_id=step.step_id, by="alice", choice=option, answer=None if option else "the first")
    if now.interrupt in STOPPED and now.slice.is_active:
        return commands.Resume(by="alice")
    for effect in outstanding(now):
        match effect:
            case Understand(input=said):
                return commands.ReportUnderstanding(input_id=said.input_id, analysis=analyse("same_task_no_change"))
            case RunTurn(turn=turn):
                result = {"tasks": [task("a"), task("b", "a")]} if turn.job == "plan" else None
                verdict = {"pass": True} if turn.job in REVIEWS else None
                text = '{"patches": []}'
                return commands.CompleteTurn(turn_id=turn.turn_id, text=text, plan=result, review=verdict)
            case RunTask(dispatch_id=dispatch_id):
                return next_of_task(state_of(now, dispatch_id), dispatch_id)
            case Deadline():
                return effect.command
            case _:
                pass
    return None


WILLING = ("approve", "skip", "run_without", "continue", "drop", "retry")


@settings(max_examples=60)
@given(teams, histories)
def test_work_can_always_be_brought_to_its_end(team: Team, history: list[Move]) -> None:
    """With faults over, every session is soon waiting for a named human with nothing left to do."""
    _, now = play(team, [opening[0], *history])
    for _ in range(400):
        command = go_on(now)
        if command is None:
            break
        decided = decide(now, command, AT)
        check_never_stuck(decided)
        now = decided.state
    else:
        raise AssertionError("it goes on for ever")
    assert now.status is Status.PAUSED
    assert now.waiting_for
    assert find_work(now) is None or not now.part(PlanSlice).current.is_active
    assert not now.running

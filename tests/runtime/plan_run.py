"""One whole run of the plan flow, driven by what the log says: it can be stopped anywhere and goes on from there.

Plan → the human edits and approves → tasks in parallel, one fails once and is retried → a review that sends one back →
a small change → a pause → the answer.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

from moot.agents.script import ScriptEntry, ScriptError, ScriptPlan, ScriptReview
from moot.app import App, Session
from moot.core.codec import Event, Head, chain
from moot.core.evolve import evolve
from moot.core.flows.plan.plan_events import DispatchRequested, FinalAnswered, PlanPatched, SolverCompleted
from moot.core.flows.plan.plan_slice import PlanSlice, find_work
from moot.core.intake.intent import SemanticInput
from moot.core.machines.interrupt import State as Interrupt
from moot.core.session.commands import Answer, HumanCommand, Pause, Post, Resume
from moot.core.session.events import (
    MessagePosted,
    PauseRequested,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
)
from moot.core.session.state import State
from moot.runtime.ports import CommandKey, Summary, Understood
from moot.runtime.stores.memory import MemoryLog
from moot.testing import VirtualClock
from moot.testing.intents import analyse
from tests.runtime.apps import open_on
from tests.runtime.plans import crew, plays, task

GOAL, CHANGE = "write about tea", "and say what it costs"
TASKS = (task("a"), task("b"), task("c", "a"))
EDITED = (*TASKS, task("d", "b", "c"))
LATEST_S = 600  # a run takes about 20 s; what takes longer is stuck

TEAM = crew(
    plays(
        "pam",
        ScriptEntry(plan=ScriptPlan(tasks=TASKS), delay_s=1),
        ScriptEntry(patches=({"op": "add", "task_id": "e", "changes": {"title": "Costs", "depends_on": ["a"]}},)),
        role="planner",
    ),
    plays("wu", ScriptEntry(text="done by wu", delay_s=2), by_task={"c": (ScriptEntry(text="c, at last", delay_s=2),)}),
    plays(
        "xi",
        ScriptEntry(text="done by xi", delay_s=2),
        by_task={"b": (ScriptEntry(error=ScriptError(type="network", message="gone"), delay_s=1), "b, again")},
    ),
    plays(
        "rex",
        ScriptEntry(review=ScriptReview(passed=True), delay_s=1),
        by_task={
            "c": (
                ScriptEntry(review=ScriptReview(passed=False, feedback="longer")),
                ScriptEntry(review=ScriptReview(passed=True)),
            )
        },
        role="reviewer",
    ),
    plays("abe", ScriptEntry(text="the whole story of tea", delay_s=1), role="aggregator"),
)


class Reader:
    """Knows what alice means."""

    async def understand(self, given: SemanticInput) -> Understood:
        relation = "different_task" if given.raw_input == GOAL else "same_task_minor_change"
        return Understood(analysis=analyse(relation))  # type: ignore[arg-type]


class DyingLog(MemoryLog):
    """Takes appends up to an event. The process dies with the next one, or `at_once`: before it hears of the last."""

    def __init__(self) -> None:
        super().__init__()
        self.last_seq = 10**9
        self.at_once = False
        self.boundaries: list[int] = []
        self.dying = asyncio.Event()

    async def append(
        self,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        *,
        command: CommandKey | None = None,
        summary: Summary | None = None,
    ) -> None:
        if self.dying.is_set() or expected.seq >= self.last_seq:
            await self._die()
        await super().append(session_id, expected, events, command=command, summary=summary)
        self.boundaries.append(events[-1].seq)
        if self.at_once and events[-1].seq >= self.last_seq:
            await self._die()

    async def _die(self) -> None:
        self.dying.set()
        await asyncio.Event().wait()

    async def save_snapshot(self, *_: Any) -> None:
        """A process that dies leaves none."""

    def revive(self, last_seq: int = 10**9, *, at_once: bool = False) -> None:
        self.last_seq, self.at_once = last_seq, at_once
        self.dying.clear()


def next_command(state: State, events: list[Event]) -> HumanCommand | None:
    """What alice does now, from the log alone; None when she waits."""
    facts = [event.fact for event in events]
    said = [fact.text for fact in facts if isinstance(fact, MessagePosted)]
    finished = {fact.task["id"] for fact in facts if isinstance(fact, SolverCompleted)}
    if GOAL not in said:
        return Post(text=GOAL)
    for step in state.open_steps.values():
        assert step.code == "confirm_plan", step
        return Answer(step_id=step.step_id, confirmed=True, tasks=EDITED)
    if state.interrupt is Interrupt.PAUSED:
        return Resume()
    if CHANGE not in said:
        return Post(text=CHANGE) if "a" in finished else None
    is_patched = any(isinstance(fact, PlanPatched) for fact in facts)
    if is_patched and not any(isinstance(fact, PauseRequested) for fact in facts):
        return Pause()
    return None


async def finish(app: App, session: Session, clock: VirtualClock) -> None:
    """Play on until the answer is there."""
    until_s = clock.monotonic() + LATEST_S
    while True:
        state = await session.state()
        events = await app.log.read(session.id, limit=10_000)
        if any(isinstance(event.fact, FinalAnswered) for event in events) and state.is_settled:
            return
        assert clock.monotonic() < until_s, f"stuck after {events[-1].name}"
        command = next_command(state, events)
        if command:
            await session.submit(command)
        await clock.advance(0.25)


async def live(log: DyingLog, session_id: str | None, clock: VirtualClock) -> str | None:
    """Open an app and play until the answer is there or the log dies; the session's id, if it came to one."""
    found = session_id

    async def play() -> None:
        nonlocal found
        async with open_on(log, TEAM, clock=clock, understander=Reader()) as app:
            await app.recover()
            session = await app.session(found)
            found = session.id
            await finish(app, session, clock)

    playing, dying = asyncio.create_task(play()), asyncio.create_task(log.dying.wait())
    await asyncio.wait([playing, dying], return_when=asyncio.FIRST_COMPLETED)
    dying.cancel()
    if log.dying.is_set():
        playing.cancel()
        await asyncio.wait([playing])
        assert playing.cancelled() or playing.exception() is None, playing.exception()
        listed = await log.sessions()
        return listed[0].session_id if listed else None
    await playing
    return found


class Tale:
    """What a finished log says."""

    def __init__(self, events: list[Event]) -> None:
        facts = [event.fact for event in events]
        self.completed = Counter(fact.task["id"] for fact in facts if isinstance(fact, SolverCompleted))
        self.answers = [fact.text for fact in facts if isinstance(fact, FinalAnswered)]
        self.offered = [fact.dispatch_id for fact in facts if isinstance(fact, DispatchRequested)]
        self.said = [fact.text for fact in facts if isinstance(fact, MessagePosted)]
        self.started = Counter(fact.turn_id for fact in facts if isinstance(fact, TurnStarted))
        self.ended = Counter(
            fact.turn_id for fact in facts if isinstance(fact, TurnCompleted | TurnFailed | TurnCancelled)
        )
        self.patches = sum(isinstance(fact, PlanPatched) for fact in facts)


def check(events: list[Event], state: State) -> None:
    """The run is whole: nothing lost, nothing twice, nothing left, and the log is what the server folded."""
    previous, folded = "", None
    for seq, event in enumerate(events, start=1):
        assert event.seq == seq
        previous = chain(previous, event.data)
        assert event.hash == previous
        folded = evolve(folded, event.fact)
    assert folded == state
    tale = Tale(events)
    assert tale.answers == ["the whole story of tea"]
    assert tale.completed == {"a": 1, "b": 1, "c": 2, "d": 1, "e": 1}  # c was sent back once
    assert tale.said == [GOAL, CHANGE]
    assert tale.patches == 1
    assert len(tale.offered) == len(set(tale.offered))
    assert tale.started == tale.ended
    assert max(tale.started.values()) == 1
    assert find_work(state) is not None
    assert not state.part(PlanSlice).current.dispatches
    assert not state.open_steps

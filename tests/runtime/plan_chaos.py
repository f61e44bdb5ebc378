"""Seeded runs of the plan flow: members that fail in every way, a human who does anything, processes that die.

When the faults are over the human is sensible again: then the work must come to its end (never stuck).
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress

from moot.agents.script import Reply, ScriptEntry, ScriptError, ScriptPlan, ScriptReview, ScriptStep
from moot.app import Session
from moot.config.team_file import TeamFile
from moot.core.codec import chain
from moot.core.errors import Refused
from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.flows.plan.plan_commands import CancelPlan, CancelTask, Replan, RestartTask, SolveTasks
from moot.core.flows.plan.plan_events import DispatchNacked, PlanStepped, SolverProgressed, TaskFailed
from moot.core.flows.plan.plan_settings import PlanSettings
from moot.core.flows.plan.plan_slice import PlanSlice, find_work
from moot.core.intake.intent import Relation, SemanticInput
from moot.core.machines.interrupt import STOPPED
from moot.core.machines.session import Status
from moot.core.session.commands import Answer, CancelTurn, HumanCommand, Pause, Post, Resume, Retry
from moot.core.session.events import StepAsked, TurnFailed
from moot.core.session.state import State
from moot.runtime.ports import Understood
from moot.testing import VirtualClock
from moot.testing.intents import analyse
from tests.runtime.apps import open_on
from tests.runtime.plan_run import DyingLog
from tests.runtime.plans import crew, plays, task

MOVES = 30
LATEST_S = 20_000  # four attempts of a task that hangs take 7,200 s
IDS = ("a", "b", "c", "d", "e")
RELATIONS: tuple[Relation, ...] = (
    "same_task_no_change",
    "same_task_minor_change",
    "same_task_major_change",
    "different_task",
)


class Moody:
    """Understands anything as anything, now and then not at all."""

    def __init__(self, chance: random.Random, counts: Counter[str]) -> None:
        self._chance = chance
        self._counts = counts

    async def understand(self, given: SemanticInput) -> Understood:
        if self._chance.random() < 0.1:
            self._counts["not understood"] += 1
            raise RuntimeError("no idea")
        if self._chance.random() < 0.1:
            self._counts["never understood"] += 1
            await asyncio.Event().wait()
        return Understood(analysis=analyse(self._chance.choice(RELATIONS), self._chance.choice([0.5, 0.65, 0.95])))


def make_team(chance: random.Random) -> TeamFile:
    """Scripts of bad turns that end in good ones, and are good from then on."""

    def bad() -> ScriptEntry:
        kind = chance.choice(["nack", "error", "hang", "slow", "steps", "terminal"])
        error = ScriptError(type="auth" if kind == "terminal" else "network", message="gone")
        return ScriptEntry(
            nack="busy" if kind == "nack" else None,
            error=error if kind in ("error", "terminal") else None,
            hang=kind == "hang",
            delay_s=chance.choice([0, 0.5, 40]) if kind == "slow" else 0.0,
            steps=(ScriptStep(thought="hm"),) if kind == "steps" else (),
            text="done",
        )

    def script(*good: Reply) -> list[Reply]:
        return [bad() if chance.random() < 0.3 else chance.choice(good) for _ in range(chance.randint(0, 12))] + [
            good[0]
        ]

    tasks = tuple(task(each, *[needed for needed in IDS[:at] if chance.random() < 0.3]) for at, each in enumerate(IDS))
    plan = ScriptEntry(plan=ScriptPlan(tasks=tasks), text="the answer", delay_s=1)
    add = {"op": "add", "task_id": f"x{chance.randint(1, 9)}", "changes": {"title": "More"}}
    patch = ScriptEntry(patches=(add, {"op": "remove", "task_id": "b"}), plan=ScriptPlan(tasks=tasks))
    passes, rejects = ScriptEntry(review=ScriptReview(passed=True)), ScriptEntry(review=ScriptReview(passed=False))
    members = [
        plays("pam", *script(plan, patch, ScriptEntry(text="no plan")), role="planner"),
        plays("wu", *script(ScriptEntry(text="done", delay_s=2), "at once")),
        plays("xi", *script(ScriptEntry(text="done", delay_s=1))),
    ]
    if chance.random() < 0.5:
        members.append(plays("rex", *script(passes, rejects), role="reviewer"))
    settings = PlanSettings(max_parallel=chance.choice([1, 2, 4]), confirm=chance.choice(["always", "never"]))
    return crew(*members, plan=settings)


def pick_command(state: State, chance: random.Random) -> HumanCommand:
    """Anything that a human might do, sensible or not."""
    anything: list[HumanCommand] = [
        Post(text=f"words {chance.random()}"),
        Pause(),
        Resume(),
        Retry(),
        CancelTask(task_id=chance.choice(IDS)),
        RestartTask(task_id=chance.choice(IDS)),
        Replan(feedback="better"),
        SolveTasks(tasks=(task("a"), task("b", "a"))),
    ]
    if chance.random() < 0.1:
        anything += [CancelTurn(), CancelPlan()]
    steps = list(state.open_steps.values())
    if steps and chance.random() < 0.6:
        return answer_any(chance.choice(steps), chance)
    return chance.choice(anything)


def answer_any(step: StepAsked, chance: random.Random) -> Answer:
    if not step.options:
        return Answer(step_id=step.step_id, answer="as I said")
    return Answer(step_id=step.step_id, choice=chance.choice(step.options).id)


def pick_sensible(state: State) -> HumanCommand | None:
    """What brings the work to its end."""
    for step in state.open_steps.values():
        known = [option.id for option in step.options]
        for choice in ("approve", "skip", "run_without", "continue", "drop", "abort", "retry"):
            if choice in known:
                return Answer(step_id=step.step_id, choice=choice)
        return Answer(step_id=step.step_id, answer="as I said")
    return Resume() if state.interrupt in STOPPED else None


class Chaos:
    """One seed: its team, its log, and what happened (`counts`)."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - it must be repeatable, not secret
        self.team = make_team(self.chance)
        self.log, self.clock = DyingLog(), VirtualClock()
        self.counts: Counter[str] = Counter()
        self.session_id: str | None = None
        self._moves = 0

    async def run(self) -> State:
        while self._moves < MOVES:
            head = len((await self.log.read(self.session_id, limit=100_000)) if self.session_id else ())
            self.log.revive(head + self.chance.randint(1, 60), at_once=self.chance.random() < 0.5)
            await self._live(self._misbehave)
        self.log.revive()
        await self._live(self._finish)
        return await self.check()

    async def _live(self, play: Callable[[Session], Awaitable[None]]) -> None:
        async def living() -> None:
            async with open_on(
                self.log, self.team, clock=self.clock, understander=Moody(self.chance, self.counts)
            ) as app:
                await app.recover()
                session = await app.session(self.session_id, once="a plan")
                self.session_id = session.id
                await play(session)

        life, death = asyncio.create_task(living()), asyncio.create_task(self.log.dying.wait())
        await asyncio.wait([life, death], return_when=asyncio.FIRST_COMPLETED)
        death.cancel()
        if self.log.dying.is_set():
            self.counts["crash"] += 1
            life.cancel()
            await asyncio.wait([life])
            listed = await self.log.sessions()
            self.session_id = listed[0].session_id if listed else None
        else:
            await life

    async def _misbehave(self, session: Session) -> None:
        while self._moves < MOVES:
            self._moves += 1
            command = pick_command(await session.state(), self.chance)
            try:
                await session.submit(command)
                self.counts[type(command).__name__] += 1
            except Refused as refusal:
                self.counts[f"refused {refusal.code}"] += 1
            await self.clock.advance(self.chance.choice([0, 0, 0.5, 3, 40, 2_000]))

    async def _finish(self, session: Session) -> None:
        until_s = self.clock.monotonic() + LATEST_S
        while True:
            state = await session.state()
            command = pick_sensible(state)
            if command is None and state.is_settled and not (state.slice.is_active):
                if not state.door.deferred:
                    return
                command = Resume()
            assert self.clock.monotonic() < until_s, f"stuck: {state.status} {state.interrupt} {find_work(state)}"
            if command:
                with suppress(Refused):  # what it answers may be over just now
                    await session.submit(command)
            await self.clock.advance(10)

    async def check(self) -> State:
        """The log is whole, its fold is a floor with a human, and nothing is under way."""
        assert self.session_id
        previous, state = "", None
        for seq, event in enumerate(await self.log.read(self.session_id, limit=100_000), start=1):
            assert event.seq == seq
            previous = chain(previous, event.data)
            assert event.hash == previous
            state = evolve(state, event.fact)
        assert state is not None
        assert state.status is Status.PAUSED
        assert state.waiting_for == "alice"
        assert not state.running
        assert not (find_work(state) and state.part(PlanSlice).current.dispatches)
        self._facts = [event.fact for event in await self.log.read(self.session_id, limit=100_000)]
        for fact in self._facts:
            self._count(fact)
        return state

    def told(self) -> list[Fact]:
        """Every fact of a run that is over."""
        return self._facts

    def _count(self, fact: Fact) -> None:
        """Faults of members that came to something."""
        match fact:
            case DispatchNacked(reason="busy"):
                self.counts["nack"] += 1
            case TaskFailed(error_type="timeout") | TurnFailed(error_type="timeout"):
                self.counts["hang"] += 1
            case TaskFailed(error_type="auth") | TurnFailed(error_type="auth"):
                self.counts["terminal"] += 1
            case TaskFailed() | TurnFailed():
                self.counts["error"] += 1
            case SolverProgressed() | PlanStepped():
                self.counts["steps"] += 1

"""What the tests of the plan flow's shell share: crews, tasks, and executors that do what the test says."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from moot.agents.script import ScriptAgent, ScriptEntry, ScriptPlan
from moot.app import App, Session
from moot.config.team_file import MemberSpec, TeamFile
from moot.core.errors import AgentError
from moot.core.flows.plan.plan_commands import SolveTasks
from moot.core.flows.plan.plan_events import FinalAnswered, SolverCompleted
from moot.core.flows.plan.plan_settings import PlanSettings
from moot.core.flows.plan.plan_slice import PlanSlice, find_work
from moot.core.flows.turns import TurnInput
from moot.core.machines.task import TaskState
from moot.core.session.state import State
from moot.core.session.team import Kind
from moot.runtime.ports import Output, Result
from moot.testing import VirtualClock, human
from tests.runtime.apps import facts, read


def task(task_id: str, *depends_on: str, **fields: Any) -> dict[str, Any]:
    """A task as a planner writes it."""
    return {"id": task_id, "title": f"Task {task_id}", "depends_on": list(depends_on), **fields}


def plays(member_id: str, *replies: str | ScriptEntry, role: str = "executor", **fields: Any) -> MemberSpec:
    """An AI with a role and a script; `by_task` gives tasks scripts of their own."""
    script = ScriptAgent(replies=replies, by_task=fields.pop("by_task", {}))
    return MemberSpec(id=member_id, kind=Kind.AI, role=role, agent=script, **fields)


def planning(*tasks: dict[str, Any], **fields: Any) -> MemberSpec:
    """A planner that always proposes these tasks, and an answer to go with its other jobs."""
    return plays("pam", ScriptEntry(plan=ScriptPlan(tasks=tasks), text="all of it"), role="planner", **fields)


def crew(*members: MemberSpec, name: str = "crew", plan: PlanSettings | None = None, **fields: Any) -> TeamFile:
    """A team of the plan flow around alice."""
    return TeamFile(
        moot=1,
        name=name,
        flow="plan",
        language="en",
        members=(human("alice"), *members),
        plan=plan or PlanSettings(),
        **fields,
    )


class Hands:
    """Plays executors. A task goes on until the test ends it, and is refused as long as there are reasons to."""

    def __init__(self) -> None:
        self.turns: list[TurnInput] = []
        self.stopped: list[str] = []
        self.reasons: dict[str, list[str]] = {}  # by member
        self._ends: dict[str, asyncio.Future[str]] = {}

    def refuse(self, turn: TurnInput) -> str | None:
        reasons = self.reasons.get(turn.member.id)
        return reasons.pop(0) if reasons else None

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        self.turns.append(turn)
        end = self._ends[turn.task_id] = asyncio.get_running_loop().create_future()
        try:
            yield Result(text=await end)
        except asyncio.CancelledError:
            self.stopped.append(turn.task_id)
            raise

    @property
    def given(self) -> list[str]:
        """The tasks that were begun, in order."""
        return [turn.task_id for turn in self.turns]

    @property
    def at_work(self) -> list[str]:
        return [task_id for task_id, end in self._ends.items() if not end.done()]

    def finish(self, task_id: str, text: str = "done") -> None:
        self._ends[task_id].set_result(text)

    def fail(self, task_id: str, error_type: str = "network") -> None:
        self._ends[task_id].set_exception(AgentError(error_type, "boom"))


async def solve(app: App, clock: VirtualClock, *tasks: dict[str, Any]) -> Session:
    """A session at work on these tasks: no planning, no confirmation."""
    session = await app.session()
    await session.submit(SolveTasks(tasks=tasks))
    await clock.advance(0)
    return session


def states(state: State) -> dict[str, TaskState]:
    assert find_work(state) is not None
    return {task_id: run.state for task_id, run in state.part(PlanSlice).current.tasks.items()}


async def completed(app: App, session: Session) -> list[str]:
    """The tasks that were completed, in order."""
    return [fact.task["id"] for fact in await facts(app, session, SolverCompleted)]


async def answer(app: App, session: Session) -> str:
    """The last final answer; empty when there is none."""
    return next((fact.text for fact in reversed(await facts(app, session, FinalAnswered))), "")


async def after(app: App, session: Session, seq: int) -> list[str]:
    """The names of what was logged behind `seq`."""
    return [event.name for event in await read(app, session) if event.seq > seq]

"""A plan of instant tasks, side by side, every fifth of which fails once: what the flow itself costs a task."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import NamedTuple

from moot.app import App, open_app
from moot.config.team_file import TeamFile
from moot.core.errors import AgentError
from moot.core.flows.plan.plan_commands import SolveTasks
from moot.core.flows.plan.plan_settings import PlanSettings, Retry
from moot.core.flows.turns import TurnInput
from moot.runtime.ports import Output, Result
from moot.testing import human, scripted

TASKS, AT_ONCE, EVERY = 50, 10, 5
TEAM = TeamFile(
    moot=1,
    name="bench",
    flow="plan",
    language="en",
    members=(
        human("alice"),
        scripted("pam", role="planner"),
        scripted("wu", role="executor"),
    ),
    plan=PlanSettings(max_parallel=AT_ONCE, retry=Retry(base_delay_s=0)),
)
PLAN = tuple({"id": f"t{n}", "title": f"Task {n}", "objective": "Say what was found."} for n in range(TASKS))


class Workers:
    """Plays the executor at once; `done` is set when the aggregator is asked."""

    def __init__(self) -> None:
        self.done: dict[str, asyncio.Event] = {}

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        if turn.job == "aggregate":
            self.done[turn.session_id].set()
        elif turn.assignment and turn.assignment.attempt == 1 and int(turn.task_id[1:]) % EVERY == 0:
            raise AgentError("network", "the first time it fails")
        yield Result(text="What was found, in a sentence of ordinary length.")


class Cost(NamedTuple):
    """`seconds` of each plan, from the command to the last task's end; `commits` of one, on average."""

    seconds: list[float]
    commits: float


async def plans(rounds: int, data: Path | None, now: Callable[[], float] = time.perf_counter) -> Cost:
    """So many plans, one after the other, each in a session of its own."""
    workers = Workers()
    seconds: list[float] = []
    async with open_app(TEAM, agents={"pam": workers, "wu": workers}, data=data, max_tasks=AT_ONCE) as app:
        before = count_commits(app)
        for _ in range(rounds):
            session = await app.session()
            done = workers.done[session.id] = asyncio.Event()
            start = now()
            await session.submit(SolveTasks(tasks=PLAN))
            await done.wait()
            seconds.append(now() - start)
            async for _ in session.settle():
                pass
        events = await app.log.read(session.id, limit=10_000)
        assert sum(event.name == "solver.completed" for event in events) == TASKS
        return Cost(seconds, (count_commits(app) - before) / rounds)


def count_commits(app: App) -> int:
    return getattr(app.log, "commit_count", 0)


async def stored_task(data: Path) -> list[bytes]:
    """The bytes that one task stores, for a floor that writes the same."""
    workers = Workers()
    async with open_app(TEAM, agents={"pam": workers, "wu": workers}, data=data) as app:
        session = await app.session()
        workers.done[session.id] = asyncio.Event()
        await session.submit(SolveTasks(tasks=PLAN[1:2]))
        await workers.done[session.id].wait()
        events = await app.log.read(session.id)
    own = ("task.dispatch_requested", "task.dispatch_acked", "solver.start", "solver.completed")
    return [event.data for event in events if event.name in own]

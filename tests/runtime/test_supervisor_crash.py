"""A supervisor's job goes on after a crash at any event: the same decisions, the same state, nothing twice."""

import asyncio
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from moot.agents.script import ScriptAgent, ScriptEntry
from moot.config.loading import load_team
from moot.config.team_file import TeamFile
from moot.core.codec import Event, chain
from moot.core.errors import AgentError
from moot.core.evolve import evolve
from moot.core.flows.supervisor.supervisor_slice import current_job, find_job
from moot.core.session.commands import Answer, Post
from moot.core.session.events import MessagePosted, TurnStarted, TurnStepped
from moot.runtime.ports import ToolFunction
from moot.testing import VirtualClock
from tests.runtime.apps import open_on, run
from tests.runtime.plan_run import DyingLog

GOAL = "A post about growing herbs on a balcony, with two pictures."
NEVER = 10**9
LATEST_S = 60.0


def prepare(entry: Any) -> Any:
    """Without results of their own the studio's tools are the shell's to run."""
    if not isinstance(entry, ScriptEntry) or not entry.tool_calls:
        return entry
    calls = tuple({key: value for key, value in call.items() if key != "result"} for call in entry.tool_calls)
    return msgspec.structs.replace(entry, tool_calls=calls)


def make_studio() -> TeamFile:
    team = load_team("content-studio-demo")
    members = []
    for each in team.members:
        if isinstance(each.agent, ScriptAgent):
            agent = msgspec.structs.replace(each.agent, replies=tuple(prepare(entry) for entry in each.agent.replies))
            each = msgspec.structs.replace(each, agent=agent)
        members.append(each)
    return msgspec.structs.replace(team, members=tuple(members))


STUDIO = make_studio()


def find_tool(team: str, member: str, name: str) -> ToolFunction:
    async def draw(plan: str, **_: str) -> dict[str, str]:
        return {"asset": f"asset-{plan}-1"}

    async def search(query: str) -> list[str]:
        return [query]

    tools: dict[str, ToolFunction] = {"generate_image": draw, "search_notes": search}
    if name not in tools:
        raise AgentError("config", f"{member} of {team} has no {name}")
    return tools[name]


async def live(log: DyingLog, session_id: str | None, clock: VirtualClock) -> str | None:
    """Open an app and play until the job is over or the log dies; the session's id, if it came to one."""
    found = session_id

    async def play() -> None:
        nonlocal found
        async with open_on(log, STUDIO, clock=clock, find_tool=find_tool) as app:
            await app.recover()
            session = await app.session(found, once="the job")
            found = session.id
            until_s = clock.monotonic() + LATEST_S
            while True:
                state = await session.state()
                if find_job(state) and not current_job(state).is_active and state.is_settled:
                    return
                assert clock.monotonic() < until_s, state.pause_reason
                events = await app.log.read(session.id, limit=10_000)
                if not any(isinstance(event.fact, MessagePosted) for event in events):
                    await session.submit(Post(text=GOAL))
                for step_id in state.open_steps:
                    await session.submit(Answer(step_id=step_id, choice="beginners"))
                await clock.advance(0.25)

    playing, dying = asyncio.create_task(play()), asyncio.create_task(log.dying.wait())
    await asyncio.wait([playing, dying], return_when=asyncio.FIRST_COMPLETED)
    dying.cancel()
    if not log.dying.is_set():
        await playing
        return found
    playing.cancel()
    await asyncio.wait([playing])
    assert playing.cancelled() or playing.exception() is None, playing.exception()
    listed = await log.sessions()
    return listed[0].session_id if listed else None


async def play(*crashes: int, at_once: bool = False) -> tuple[list[Event], DyingLog]:
    """The whole job on one log, with a process that dies at each of these events, and one that comes to the end."""
    log, clock = DyingLog(), VirtualClock()
    session_id: str | None = None
    for crash in (*crashes, NEVER):
        log.revive(crash, at_once=at_once)
        session_id = await live(log, session_id, clock)
        if crash != NEVER and not log.dying.is_set():
            break
    assert session_id
    return await log.read(session_id, limit=10_000), log


def check(events: list[Event], expected: list[Event]) -> None:
    """The same facts in the same order, but for steps that an agent showed again; and an unbroken chain."""
    previous, folded = "", None
    for event in events:
        previous = chain(previous, event.data)
        assert event.hash == previous
        folded = evolve(folded, event.fact)
    assert told(events) == told(expected)
    assert folded is not None
    job = current_job(folded)
    assert job.outcome == "complete"
    assert job.state["generatedImageAssetIds"] == ["asset-cover-1", "asset-watering-1"]


def told(events: list[Event]) -> list[Any]:
    """The facts without their instants: a process that starts later does the same later."""
    facts = [event.fact for event in events if not isinstance(event.fact, TurnStepped)]
    return [replace(fact, started_at="") if isinstance(fact, TurnStarted) else fact for fact in facts]


@pytest.mark.parametrize("at_once", [True, False])
@run
async def test_a_crash_after_every_append(at_once: bool) -> None:
    """Wherever the log ends, in a turn, in a tool or in a question, another process comes to the same end."""
    expected, log = await play()
    check(expected, expected)
    assert len(log.boundaries) > 30
    for last_seq in log.boundaries[:-1]:
        events, _ = await play(last_seq, at_once=at_once)
        check(events, expected)


@run
async def test_crashes_in_a_row() -> None:
    """Processes that die with their first append, one after the other, do no harm."""
    expected, log = await play()
    for last_seq in log.boundaries[:-1:7]:
        events, _ = await play(*range(last_seq, last_seq + 4), at_once=True)
        check(events, expected)

"""The supervisor flow as it runs: scripted agents, tools of the shell, time limits at their real values."""

import asyncio
from pathlib import Path
from typing import Any

from moot.agents.script import ScriptEntry
from moot.app import App, Session, open_app
from moot.config.loading import load_team
from moot.config.team_file import TeamFile
from moot.core.flows.supervisor.supervisor_events import SupervisorDecided, ToolCompleted, ToolsCalled
from moot.core.flows.supervisor.supervisor_settings import SupervisedAgent, SupervisorSettings, ToolLoop
from moot.core.flows.supervisor.supervisor_slice import current_job, find_job
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import Answer, Post
from moot.core.session.events import TurnStarted
from moot.runtime.ports import Result, ToolFunction
from moot.testing import VirtualClock, human, make_team, scripted
from tests.runtime.apps import facts, has, names, run, say, until

EXAMPLES = Path(__file__).parents[2] / "examples"
LOOP = ToolLoop(node="draw_tools", max_rounds=3)


def make_desk(*drawn: ScriptEntry | str, timeout_s: float = 1800.0, tools: tuple[str, ...] = ()) -> TeamFile:
    """A supervisor and one agent with tools: it says `drawn`, and the supervisor ends after that."""
    team = make_team(
        human("ann"),
        scripted("boss", '{"next_agent": "artist", "guidance": "a fox"}', '{"next_agent": "END"}'),
        scripted("artist", *drawn, tools=tools),
        name="desk",
        supervisor=SupervisorSettings(
            member="boss",
            turn_timeout_s=timeout_s,
            agents={"artist": SupervisedAgent(writes=("picture",), tools=LOOP)},
        ),
    )
    return TeamFile(**{name: getattr(team, name) for name in team.__struct_fields__} | {"flow": "supervisor"})


def call(name: str = "draw", **args: Any) -> ScriptEntry:
    return ScriptEntry(text="drawing", tool_calls=({"name": name, "args": args},))


async def begin(app: App) -> Session:
    session = await app.session()
    await say(session, "a fox, please")
    return session


@run
async def test_the_support_desk_answers_its_customer() -> None:
    """A team in YAML alone; a correction, four agents, a check that approves."""
    async with open_app(EXAMPLES / "05_support_desk.yaml") as app:
        session = await app.session()
        await say(session, "The kettle of order 1187 leaks.")
        state = await session.state()
        assert find_job(state) is not None
        assert current_job(state).outcome == "complete"
        assert "new seal" in current_job(state).state["answer"]["text"]
        decided = await facts(app, session, SupervisorDecided)
        assert [(each.next, each.corrected_from) for each in decided] == [
            ("triage", "refund"),
            ("tech", None),
            ("reply", None),
            ("check", None),
        ]


@run
async def test_a_tool_runs_between_two_turns_of_its_agent() -> None:
    """The engine runs tools between an agent's turns; the next turn has what they gave."""
    given: list[TurnInput] = []

    async def artist(turn: TurnInput) -> Result:
        given.append(turn)
        if len(given) == 1:
            return Result(text="drawing", tool_calls=({"name": "draw", "args": {"what": "fox"}}, {"name": "count"}))
        return Result(text="here it is", state={"picture": "fox.png"})

    async def draw(what: str) -> dict[str, str]:
        return {"file": f"{what}.png"}

    tools: dict[str, ToolFunction] = {"draw": draw, "count": lambda: 7}
    async with open_app(make_desk("-"), agents={"artist": artist}, tools=tools) as app:
        session = await begin(app)
        assert current_job(await session.state()) is not None
        brief = given[1].brief
        assert brief is not None
        assert sorted((each.call.name, each.result) for each in brief.results) == [
            ("count", 7),
            ("draw", {"file": "fox.png"}),
        ]
        assert (await names(app, session))[-1] == "session.paused"
        assert [turn.job for turn in await facts(app, session, TurnStarted)] == [
            *("supervisor", "artist", "artist", "supervisor"),
        ]


@run
async def test_a_tool_may_fail_and_the_agent_learns_why() -> None:
    """A tool is foreign code: what it raises, or that it is not there, is told to the agent and nothing breaks."""

    def draw(what: str) -> str:
        raise OSError(f"no paint for {what}")

    async with open_app(make_desk(call(what="fox"), call("sing"), "done"), tools={"draw": draw}) as app:
        session = await begin(app)
        errors = [each.error for each in await facts(app, session, ToolCompleted)]
        assert errors[0] == "OSError: no paint for fox"
        assert errors[1].startswith("'artist' has no tool 'sing'")
        assert (await session.state()).pause_reason == "finished"


@run
async def test_tools_are_called_so_many_rounds() -> None:
    """The call that reaches max_rounds goes back to the supervisor instead."""
    async with open_app(make_desk(call(what="fox")), tools={"draw": lambda what: what}) as app:
        session = await begin(app)
        assert [each.round for each in await facts(app, session, ToolsCalled)] == [1, 2]
        assert "notice.posted" in await names(app, session)


@run
async def test_tools_are_named_in_the_team_file() -> None:
    """Python functions declared per member; the log knows their names only."""
    entry = ScriptEntry(text="tidying", tool_calls=({"name": "dedent", "args": {"text": "  x"}},))
    async with open_app(make_desk(entry, "done", tools=("textwrap:dedent",))) as app:
        session = await begin(app)
        assert [each.result for each in await facts(app, session, ToolCompleted)] == ["x"]
        assert not any(b"textwrap" in event.data for event in await app.log.read(session.id))


@run
async def test_a_tool_has_a_time_limit() -> None:
    """A tool that hangs is given up, and the agent goes on."""
    clock = VirtualClock()

    async def draw(what: str) -> None:
        await asyncio.Event().wait()

    async with open_app(make_desk(call(what="fox"), "done", timeout_s=90.0), tools={"draw": draw}, clock=clock) as app:
        session = await app.session()
        await session.submit(Post(text="a fox, please"))
        await has(app, session, "supervisor.tools_called")
        await clock.advance(89.0)
        assert "supervisor.tool_completed" not in await names(app, session)
        await clock.advance(2.0)
        [done] = await facts(app, session, ToolCompleted)
        assert done.error == "the tool took too long"


@run
async def test_a_question_waits_through_a_restart(tmp_path: Path) -> None:
    """Pending steps survive; the answer then goes to the agent that asked."""
    studio = load_team("content-studio-demo")
    async with open_app(studio, data=tmp_path) as app:
        session = await app.session()
        await say(session, "A post about herbs.")
    async with open_app(studio, data=tmp_path) as app:
        session = await app.session(session.id)
        [step] = (await session.state()).open_steps.values()
        await session.submit(Answer(step_id=step.step_id, choice="cooks"))
        await until(lambda: True)
        started = await facts(app, session, TurnStarted)
        assert started[-1].job == "brief_compiler_agent"

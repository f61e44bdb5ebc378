"""Members played by models in the supervisor flow: the tools that Moot runs for them between their turns."""

import json
import sys
from pathlib import Path
from typing import Any

from moot.app import App, Session, open_app
from moot.core.flows.supervisor.supervisor_events import ToolCompleted, ToolsCalled
from moot.core.flows.supervisor.supervisor_slice import current_job, find_job
from moot.core.session.events import TurnFailed
from tests.agents.fake_models import FakeModels, fake_models
from tests.runtime.apps import facts, run, say

SERVER = str(Path(__file__).parent / "mcp_server.py")
END = json.dumps({"next_agent": "END"})


def calls(*named: tuple[str, dict[str, Any]]) -> str:
    return json.dumps({"tool_calls": [{"name": name, "args": args} for name, args in named]})


def desk(models: FakeModels, command: list[str]) -> dict[str, Any]:
    """A scripted supervisor and an artist who is a model with a function and a server."""
    chosen = json.dumps({"next_agent": "artist", "guidance": "Look first."})
    return {
        "moot": 1,
        "name": "desk",
        "flow": "supervisor",
        "language": "en",
        "members": [
            {"id": "ann", "kind": "human"},
            {"id": "boss", "kind": "ai", "role": "supervisor", "agent": {"type": "script", "replies": [chosen, END]}},
            {
                "id": "artist",
                "kind": "ai",
                "role": "artist",
                "tools": ["tests.agents.functions:add"],
                "mcp": [{"command": command}],
                "agent": {"type": "llm", "model": "openai:small", "base_url": models.url},
            },
        ],
        "supervisor": {
            "member": "boss",
            "end": {"requires": [{"key": "picture", "is": "non_blank"}]},
            "agents": {"artist": {"writes": ["picture"], "tools": {"node": "artist_tools", "max_rounds": 5}}},
        },
    }


async def start(app: App) -> Session:
    session = await app.session()
    await say(session, "a fox, please")
    return session


@run
async def test_a_model_calls_functions_and_servers_between_its_turns(tmp_path: Path) -> None:
    """It is told what it may call, Moot calls it, and it acts again with what that gave."""
    wanted = calls(("look", {"name": "cwd"}), ("add", {"a": 1, "b": 2}), ("sing", {}))
    with fake_models(wanted, '{"state": {"picture": "a fox"}}') as models:
        team = desk(models, [sys.executable, SERVER, str(tmp_path / "book")])
        async with open_app(team, folders={"desk": tmp_path}) as app:
            session = await start(app)
            (called,) = await facts(app, session, ToolsCalled)
            done = {each.call_id.rpartition(".")[2]: each for each in await facts(app, session, ToolCompleted)}
            state = await session.state()
    first, second = models.prompts
    assert "look(name): What this program sees." in first
    assert "add(a: int, b: int)" in first
    assert [each.name for each in called.calls] == ["look", "add", "sing"]
    assert (done["1"].result, done["2"].result) == (f"sees {tmp_path}", 3)
    assert "no MCP server has a tool 'sing'; there are look" in done["3"].error
    assert f"sees {tmp_path}" in second
    assert find_job(state) is not None
    assert (current_job(state).outcome, current_job(state).state["picture"]) == (
        "complete",
        "a fox",
    )


@run
async def test_a_supervisor_that_is_a_model_calls_tools_before_it_decides() -> None:
    """Calls of tools come first; it decides in its next turn, with what they gave."""
    with fake_models(calls(("add", {"a": 20, "b": 22})), json.dumps({"next_agent": "artist"}), END) as models:
        team = desk(models, [])
        boss, artist = team["members"][1:]
        boss.update(agent=artist["agent"], tools=artist.pop("tools"))
        artist.update(agent={"type": "script", "replies": [{"state": {"picture": "42"}}]}, mcp=[])
        async with open_app(team) as app:
            session = await start(app)
            (called,) = await facts(app, session, ToolsCalled)
            state = await session.state()
    first, second, _ = models.prompts
    assert ("add(a: int, b: int)" in first, "What your tools gave" in first) == (True, False)
    assert "> add: 42" in second
    assert called.node == "supervisor_tools"
    assert find_job(state) is not None
    assert current_job(state).outcome == "complete"


@run
async def test_a_server_that_cannot_be_started_fails_the_turn() -> None:
    """The model is not asked to do without; a human has the floor and reads which one it is."""
    with fake_models("never") as models:
        async with open_app(desk(models, ["/no/such/program"])) as app:
            session = await start(app)
            (failed,) = await facts(app, session, TurnFailed)
            state = await session.state()
    assert (failed.error_type, "/no/such/program" in failed.message, models.asked) == ("config", True, [])
    assert state.waiting_for == "ann"

"""MCP servers of a model: programs of the team file, started for a turn and ended with it; servers at an address."""

import asyncio
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.agents.llm.llm_agent import LlmAgent, LlmMember
from moot.agents.run_environment import RunEnvironment
from moot.app import open_app
from moot.config.agent_specs import McpServer
from moot.config.team_file import MemberSpec, TeamFile
from moot.core.session.commands import Answer
from moot.core.session.events import StepAsked, TurnStepped
from moot.core.session.team import Kind
from moot.runtime.clock import SystemClock
from tests.agents.fake_models import Call, FakeModels, Reply, fake_models
from tests.agents.llm_members import HastyClock, play
from tests.agents.mcp_address import McpAddress, serve_mcp
from tests.agents.turns import chat_turn
from tests.runtime.apps import facts, has, run, say, until

TURN = chat_turn(("alice", "Look around."))
SERVER = str(Path(__file__).parent / "mcp_server.py")


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the server writes its process ids."""
    monkeypatch.setenv("ALLOWED", "this")
    monkeypatch.setenv("SECRET_KEY", "never")
    return tmp_path / "started"


def make_member(models: FakeModels, book: Path, *command: str) -> LlmMember:
    server = McpServer(command=command or (sys.executable, SERVER, str(book)), env=("ALLOWED",))
    spec = LlmAgent(model="openai:small", base_url=models.url, mcp=(server,), permissions="all")
    return LlmMember(spec, SystemClock(), run_environment=RunEnvironment(folder=book.parent))


def is_gone(book: Path) -> bool:
    """Whether the one server that was started has ended."""
    (pid,) = map(int, book.read_text().split())
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def look(name: str) -> Reply:
    return Reply(calls=(Call("look", {"name": name}),))


@run
async def test_a_server_serves_a_turn_and_ends_with_it(book: Path) -> None:
    """Its tools are the model's; it sees the allowed variables only, in the team's folder."""
    with fake_models(look("ALLOWED"), look("SECRET_KEY"), look("cwd"), "Seen.") as models:
        played = await play(make_member(models, book), TURN)
    assert played.result.text == "Seen."
    assert [step for step in played.steps if "→" in step] == [
        "look → sees this",
        "look → sees nothing",
        f"look → sees {book.parent}",
    ]
    assert is_gone(book)


@pytest.mark.parametrize(("choice", "seen"), [("allow_session", "sees this"), ("reject_once", "said no")])
@run
async def test_people_are_asked_before_a_tool_of_a_server_is_used(choice: str, seen: str, book: Path) -> None:
    """The question names server and tool and shows the arguments; a yes for the session is asked for once."""
    server = McpServer(command=(sys.executable, SERVER, str(book)), env=("ALLOWED",))
    with fake_models(look("ALLOWED"), look("ALLOWED"), "Seen.") as models:
        agent = LlmAgent(model="openai:small", base_url=models.url, mcp=(server,))
        members = (MemberSpec(id="ann", kind=Kind.HUMAN), MemberSpec(id="bob", kind=Kind.AI, agent=agent))
        async with open_app(TeamFile(moot=1, name="t", members=members, sandbox="off")) as app:
            session = await app.session()
            saying = asyncio.create_task(say(session, "[NEXT: bob] look around"))
            for number in range(1 if choice == "allow_session" else 2):
                await has(app, session, "agent.user_confirm", number + 1)
                step = (await facts(app, session, StepAsked))[number]
                assert step.question == f'mcp__{Path(sys.executable).stem}__look: {{\n "name": "ALLOWED"\n}}'
                await session.submit(Answer(step_id=step.step_id, choice=choice, by="ann"))
            await saying
            told = [fact.observation or "" for fact in await facts(app, session, TurnStepped)]
    assert [seen in each for each in told if "look" in each] == [True, True]


@pytest.mark.parametrize(
    ("settings", "seen"), [({"permissions": "read"}, "said no"), ({"allow": ("look",)}, "sees this")]
)
@run
async def test_a_rule_of_the_team_file_decides_unasked(settings: dict[str, Any], seen: str, book: Path) -> None:
    """`allow` names what needs no question; without people who can be asked the rest is refused."""
    server = McpServer(command=(sys.executable, SERVER, str(book)), env=("ALLOWED",))
    with fake_models(look("ALLOWED"), "Seen.") as models:
        spec = LlmAgent(model="openai:small", base_url=models.url, mcp=(server,), **settings)
        played = await play(LlmMember(spec, SystemClock()), TURN)
    assert any("look" in step and seen in step for step in played.steps)


@run
async def test_a_turn_that_is_stopped_ends_the_server(book: Path) -> None:
    """No process outlives what needs it."""
    with fake_models(Reply(text="Once upon a time", stall_after=1)) as models:
        playing = asyncio.create_task(play(make_member(models, book), TURN))
        await until(models.shown.is_set)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
    assert is_gone(book)


@run
async def test_a_server_that_cannot_be_started_fails_the_turn(book: Path) -> None:
    """Trying again would end the same; nobody is asked."""
    with fake_models("never") as models:
        played = await play(make_member(models, book, "/no/such/program"), TURN)
    assert (played.error.error_type, models.asked) == ("config", [])
    assert "/no/such/program" in str(played.error)


@pytest.fixture(scope="module")
def served() -> Iterator[McpAddress]:
    with serve_mcp() as address:
        yield address


def make_remote(models: FakeModels, url: str, key: str | None = None) -> LlmMember:
    spec = LlmAgent(model="openai:small", base_url=models.url, mcp=(McpServer(url=url, key=key),), permissions="all")
    return LlmMember(spec, HastyClock())


@run
async def test_a_server_at_an_address_is_asked_there(served: McpAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamable HTTP; its tools are the model's, its key is from the environment and not told."""
    monkeypatch.setenv("TOOLS_KEY", "sk-tools-0123")
    with fake_models(look("there"), look("paper"), "Seen.") as models:
        played = await play(make_remote(models, served.url, "TOOLS_KEY"), TURN)
    assert models.asked[0].tools == ("look",)
    found, failed = [step for step in played.steps if "→" in step]
    assert (found, "out of paper" in failed) == ("look → sees there", True)
    assert played.result.text == "Seen."
    assert served.keys == {"Bearer sk-tools-0123"}
    assert "sk-tools" not in str(models.asked[-1].body)


@run
async def test_a_server_without_its_key_is_not_asked(served: McpAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing key is said by its name, before anybody is asked."""
    monkeypatch.delenv("TOOLS_KEY", raising=False)
    with fake_models("never") as models:
        played = await play(make_remote(models, served.url, "TOOLS_KEY"), TURN)
    assert (played.error.error_type, models.asked) == ("auth", [])
    assert "set TOOLS_KEY" in str(played.error)


@run
async def test_a_server_that_is_down_is_said_to_be_down() -> None:
    """It may come back, so that it is tried again; the error says which one, and the model is not asked."""
    with socket.create_server(("127.0.0.1", 0)) as taken, fake_models("never") as models:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
        taken.close()
        played = await play(make_remote(models, url), TURN)
    assert (played.error.error_type, models.asked) == ("network", [])
    assert url in str(played.error)
    assert "is it running?" in str(played.error)
    assert len([step for step in played.steps if url in step]) == 2  # tried again twice, and said so


@run
async def test_an_address_that_is_no_mcp_server_is_final(served: McpAddress) -> None:
    """A wrong path answers the same for ever."""
    with fake_models("never") as models:
        played = await play(make_remote(models, served.url.replace("/mcp", "/nowhere")), TURN)
    assert (played.error.error_type, played.steps, models.asked) == ("config", [], [])
    assert "check url" in str(played.error)

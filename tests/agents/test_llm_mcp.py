"""MCP servers of a model: a program of the team file, started for a turn, seeing what it may, ended with it."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from moot.agents.llm.member import LlmMember
from moot.config.agent_specs import LlmAgent, McpServer
from moot.runtime.clock import SystemClock
from tests.agents.fake_models import Call, FakeModels, Reply, fake_models
from tests.agents.llm_members import play
from tests.agents.turns import chat_turn
from tests.runtime.apps import run, until

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
    spec = LlmAgent(model="openai:small", base_url=models.url, mcp=(server,))
    return LlmMember(spec, SystemClock(), folder=book.parent)


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
    """Surfaces, `mcp`: its tools are the model's; it sees the allowed variables only, in the team's folder."""
    with fake_models(look("ALLOWED"), look("SECRET_KEY"), look("cwd"), "Seen.") as models:
        played = await play(make_member(models, book), TURN)
    assert played.result.text == "Seen."
    assert [step for step in played.steps if "→" in step] == [
        "look → sees this",
        "look → sees nothing",
        f"look → sees {book.parent}",
    ]
    assert is_gone(book)


@run
async def test_a_turn_that_is_stopped_ends_the_server(book: Path) -> None:
    """House rules: no process outlives what needs it."""
    with fake_models(Reply(text="Once upon a time", stall_after=1)) as models:
        playing = asyncio.create_task(play(make_member(models, book), TURN))
        await until(models.shown.is_set)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
    assert is_gone(book)


@run
async def test_a_server_that_cannot_be_started_fails_the_turn(book: Path) -> None:
    """E95: trying again would end the same; nobody is asked."""
    with fake_models("never") as models:
        played = await play(make_member(models, book, "/no/such/program"), TURN)
    assert (played.error.error_type, models.asked) == ("config", [])

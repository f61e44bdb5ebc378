"""Seven real ACP agents, as they were recorded, played by a program and read through the member."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from moot.agents.acp.acp_agent import AcpAgent, AcpMember
from moot.agents.permits import PermissionRequest
from moot.agents.run_environment import RunEnvironment
from moot.runtime.ports import Delta, Output, Result, Step
from tests.agents.acp.permits import allow
from tests.agents.cli.streams import FOLDER, steps
from tests.agents.programs import nothing_left
from tests.agents.turns import chat_turn

AGENT = Path(__file__).with_name("recorded_agent.py")
AGENTS = sorted({path.stem.split("_")[1] for path in FOLDER.glob("acp_*.jsonl")})
ASKING = ("claude-agent-acp", "claude-code-acp", "gemini", "qwen")  # the others do what they want to
SILENT = "codex-acp"  # that version tells of no failed tool and counts nothing
UNCOUNTED = ("claude-code-acp", SILENT)


@pytest.fixture(autouse=True)
def no_orphans() -> Iterator[None]:
    with nothing_left():
        yield


def make(agent: str, what: str, folder: Path, asked: list[PermissionRequest] | None = None) -> AcpMember:
    async def permit(request: PermissionRequest) -> bool:
        (asked if asked is not None else []).append(request)
        return await allow(request)

    spec = AcpAgent(command=(sys.executable, "-IS", str(AGENT), str(FOLDER / f"acp_{agent}_{what}.jsonl")))
    return AcpMember(spec, "Be brief.", RunEnvironment(folder=folder), permit)


def play(member: AcpMember) -> list[Output]:
    async def act() -> list[Output]:
        async with asyncio.timeout(60), aclosing(member.act(chat_turn(("alice", "hello")))) as outputs:
            return [output async for output in outputs]

    return asyncio.run(act())


def result_of(outputs: list[Output]) -> Result:
    assert isinstance(outputs[-1], Result)
    assert outputs[-1].text in "".join(each.text for each in outputs if isinstance(each, Delta))
    return outputs[-1]


def test_there_are_seven() -> None:
    """Every agent that was recorded is played."""
    assert len(AGENTS) == 7


@pytest.mark.parametrize("agent", AGENTS)
def test_an_answer(agent: str, tmp_path: Path) -> None:
    """The answer without the warnings that some put in front of it, and what it cost where that is told."""
    result = result_of(play(make(agent, "plain", tmp_path)))
    assert result.text == "FAKE-OK: say hello"
    assert (result.usage.input_tokens >= 100) == (agent not in UNCOUNTED)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_tool(agent: str, tmp_path: Path) -> None:
    """A permission is asked for where the agent asks; the tool is one action, whatever way it is told in."""
    asked: list[PermissionRequest] = []
    outputs = play(make(agent, "tool", tmp_path, asked))
    assert result_of(outputs).text.startswith("FAKE-DONE. Tool said:")
    assert ["hi-from-tool" in request.command for request in asked] == [True] * (agent in ASKING)
    told = steps(output for output in outputs if isinstance(output, Step))
    actions = [line for line in told if line.startswith("action")]
    assert ["hi-from-tool" in action for action in actions] == [True] * (agent != SILENT)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_cancelled_turn(agent: str, tmp_path: Path) -> None:
    """Who stops listening has the agent told so; its program is gone."""

    async def stop_midway() -> None:
        async with (
            asyncio.timeout(60),
            aclosing(make(agent, "cancel", tmp_path).act(chat_turn(("alice", "hello")))) as outputs,
        ):
            async for output in outputs:
                if isinstance(output, Delta):
                    return

    asyncio.run(stop_midway())
    assert (tmp_path / "cancelled").exists()

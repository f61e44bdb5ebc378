"""The links with Claude Code and Codex, played what the real programs said to them. Needs no program."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from moot.agents.cli.claude_live import ClaudeLink
from moot.agents.cli.codex_live import CodexLink
from moot.agents.live.line_link import LineLink
from moot.agents.live.link import Hooks, Known, Setup
from moot.agents.output_limits import PartialOutput
from moot.agents.permits import PermissionRequest
from moot.agents.process import Child
from moot.core.errors import AgentError
from moot.core.session.usage import Usage
from moot.runtime.ports import Result
from tests.agents.cli.streams import pieces, steps
from tests.agents.recorded_program import RecordedProgram, load
from tests.runtime.apps import run

THREAD = Known(session_id="01a1edd2-836d-7f33-a74b-e313485fab2a", is_begun=True)
ONE, TWO = Usage(input_tokens=100, output_tokens=20), Usage(input_tokens=200, output_tokens=40)


class Talk:
    """A link with a recorded program, what it told, and what it asked for."""

    def __init__(self, link: type[LineLink], lines: list[str], *, is_allowed: bool = True) -> None:
        self.program = RecordedProgram(lines)
        self.link: Any = link(cast("Child", self.program), Setup(permissions="ask"), Path("/home/user/project"))
        self.told: list[PartialOutput] = []
        self.asked: list[PermissionRequest] = []
        self._is_allowed = is_allowed

    async def permit(self, request: PermissionRequest) -> bool:
        self.asked.append(request)
        return self._is_allowed

    async def prompt(self, text: str = "go on") -> Result:
        return await self.link.prompt(text, Hooks(emit=self.told.append, permit=self.permit))  # type: ignore[no-any-return]


@asynccontextmanager
async def talking(
    link: type[LineLink], lines: list[str], known: Known | None = None, **more: Any
) -> AsyncIterator[Talk]:
    async with asyncio.timeout(60):
        talk = Talk(link, lines, **more)
        try:
            await talk.link.open(known)
            yield talk
        finally:
            await talk.link.close()


def move(lines: list[str], words: str, after: str) -> list[str]:
    """The recording with the first line that has `words` after the first one that has `after`."""
    moved = next(line for line in lines if words in line)
    rest = [line for line in lines if line is not moved]
    at = next(index for index, line in enumerate(rest) if after in line)
    return [*rest[: at + 1], moved, *rest[at + 1 :]]


@pytest.mark.parametrize(
    "after",
    ["thread/resume", '"id":2', '"turn/start"', '"id":3', "turn/started", "userMessage", "rateLimits", None],
)
@run
async def test_codex_s_count_of_the_turn_before_is_not_this_turn_s(after: str | None) -> None:
    """A resumed thread tells again what its last turn spent: before the answer, in the turn, or not at all."""
    lines = load("codex_appserver_resume")
    replayed = next(index for index, line in enumerate(lines) if "tokenUsage" in line)
    lines = move(lines, "tokenUsage", after) if after else [*lines[:replayed], *lines[replayed + 1 :]]
    async with talking(CodexLink, lines, THREAD) as talk:
        assert await talk.prompt("and now?") == Result(text="hello", usage=ONE)
        assert pieces(talk.told) == "hello"


@run
async def test_codex_s_count_told_twice_counts_once() -> None:
    """It is told again when the limits of the account change."""
    lines = load("codex_appserver_resume")
    doubled = [line for line in lines for _ in range(2 if "tokenUsage" in line else 1)]
    async with talking(CodexLink, doubled, THREAD) as talk:
        assert (await talk.prompt("and now?")).usage == ONE


@pytest.mark.parametrize("is_allowed", [True, False])
@run
async def test_codex_asks_for_a_command(is_allowed: bool) -> None:
    """The request has the command in full, the answer goes to the request, and both requests to the model count."""
    async with talking(CodexLink, load("codex_appserver_approve_tool"), is_allowed=is_allowed) as talk:
        result = await talk.prompt()
        assert [request.command for request in talk.asked] == ["touch made_by_codex && echo hi-from-tool"]
        assert talk.program.written[-1] == {"id": 0, "result": {"decision": "accept" if is_allowed else "decline"}}
        assert result.text.startswith("FAKE-DONE. Tool said:")
        assert result.usage == TWO
        assert steps(talk.told)[0].startswith("action command execution")


@run
async def test_codex_is_steered() -> None:
    """The message goes to the turn that runs, and its answer is the turn's."""
    async with talking(CodexLink, load("codex_appserver_steer")) as talk:
        answer = asyncio.create_task(talk.prompt())
        assert await talk.link.steer("in blue, please") == "now"
        steered = talk.program.written[-1]
        assert steered["method"] == "turn/steer"
        assert steered["params"]["expectedTurnId"] == "01a1e112-279b-7b00-883d-9ec095d24c1b"
        assert (await answer).text.startswith("FAKE-OK")
        assert (await answer).usage == ONE


@run
async def test_codex_is_interrupted() -> None:
    """The prompt ends, and says that it was interrupted."""
    async with talking(CodexLink, load("codex_appserver_interrupt")) as talk:
        answer = asyncio.create_task(talk.prompt())
        await talk.link._begun.wait()
        await talk.link.interrupt()
        with pytest.raises(AgentError, match="interrupted"):
            await answer


@pytest.mark.parametrize(("name", "is_allowed"), [("allow", True), ("deny", False)])
@run
async def test_claude_asks_for_a_command(name: str, is_allowed: bool) -> None:
    """The request has the command in full, and the answer goes to the request."""
    async with talking(ClaudeLink, load(f"claude_permission_{name}"), is_allowed=is_allowed) as talk:
        result = await talk.prompt()
        (request,) = talk.asked
        assert request.command.startswith("touch zzz")
        assert request.name == "Bash"
        response = talk.program.written[-1]["response"]
        assert response["response"]["behavior"] == name
        assert (result.usage.input_tokens, result.usage.output_tokens) == (200, 40)


@run
async def test_claude_is_interrupted() -> None:
    """The prompt ends, and the program takes the next one."""
    async with talking(ClaudeLink, load("claude_interrupt")) as talk:
        answer = asyncio.create_task(talk.prompt("long answer"))
        while not talk.link.conversation:  # noqa: ASYNC110
            await asyncio.sleep(0)
        await talk.link.interrupt()
        with pytest.raises(AgentError):
            await answer
        assert (await talk.prompt("after the interrupt")).text.startswith("FAKE-OK")

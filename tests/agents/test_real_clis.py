"""Claude Code, Codex and Gemini CLI themselves, against a model on loopback. Skipped where they are not installed."""

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace

from moot.agents.acp.acp_agent import AcpAgent, AcpMember
from moot.agents.cli.cli_agent import CliAgent, CliMember
from moot.agents.cli.memory import Conversations
from moot.agents.permits import Permit
from moot.agents.run_environment import RunEnvironment
from moot.agents.sandbox import Sandbox, find_bubblewrap
from moot.app import open_app
from moot.config.loading import load_team
from moot.config.team_file import TeamFile
from moot.core.errors import AgentError
from moot.core.session.commands import Answer
from moot.core.session.events import MessagePosted, StepAsked
from moot.core.session.usage import Usage
from moot.runtime.ports import Delta, Output, Result, Step
from tests.agents.acp.permits import allow, deny
from tests.agents.cli.streams import steps, thinking
from tests.agents.fake_models import Asked, Call, FakeModels, Reply, fake_models
from tests.agents.programs import nothing_left
from tests.agents.real_clis import QUIET, a_wall, act, answer, need, settle
from tests.agents.turns import chat_turn
from tests.runtime.apps import TRIO, facts, has, run, say

Name = Literal["claude", "codex", "gemini"]
CLIS: list[Name] = ["claude", "codex", "gemini"]
EXAMPLE = Path(__file__).parents[2] / "examples" / "06_three_clis.yaml"


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModels]:
    """The model, a home, and proof that nothing else was asked for and nothing is left."""
    with nothing_left(), a_wall() as wall, fake_models(answer) as made:
        settle(tmp_path / "home", made, wall, monkeypatch)
        (tmp_path / "project").mkdir()
        yield made
        assert wall.knocks == []


def place(tmp_path: Path) -> RunEnvironment:
    """The project's folder, in a sandbox where there is one."""
    bubblewrap, _ = find_bubblewrap()
    sandbox = Sandbox(bubblewrap=bubblewrap, hidden=(tmp_path / "kept",), folder=tmp_path / "project")
    return RunEnvironment(folder=tmp_path / "project", sandbox=sandbox)


def member(name: Name, tmp_path: Path, permissions: Literal["read", "edit", "all"] = "read") -> CliMember:
    need(name)
    around = replace(place(tmp_path), conversations=Conversations(tmp_path / "kept"))
    return CliMember(CliAgent(preset=name, model="fake-model", permissions=permissions), "Be brief.", around)


def play(who: CliMember | AcpMember, *said: tuple[str, str]) -> list[Output]:
    return asyncio.run(act(who, chat_turn(*said)))


def told(outputs: list[Output]) -> list[str]:
    return steps(output for output in outputs if isinstance(output, Step))


@pytest.mark.parametrize("name", CLIS)
def test_a_turn_and_the_next_one(name: Name, models: FakeModels, tmp_path: Path) -> None:
    """Text, tokens and pieces; the second turn goes on with the first one's conversation and tells only what is new."""
    first = play(member(name, tmp_path), ("alice", "good morning"))
    result = first[-1]
    assert isinstance(result, Result)
    assert result.text == "fine, thank you"
    assert (result.usage.input_tokens, result.usage.output_tokens) == (100, 20)
    assert "".join(each.text for each in first if isinstance(each, Delta)) == "fine, thank you"
    before = len(models.asked)
    again = play(
        member(name, tmp_path), ("alice", "good morning"), ("bob", "fine, thank you"), ("alice", "and in the evening?")
    )
    assert isinstance(again[-1], Result)
    assert again[-1].usage == Usage(input_tokens=100, output_tokens=20, cost_usd=again[-1].usage.cost_usd)
    asked = models.asked[before]
    assert "and in the evening?" in asked.prompt
    assert "good morning" not in asked.prompt
    assert "good morning" in str(asked.body)  # the CLI's own memory


def test_what_claude_thinks_is_shown_while_it_thinks(models: FakeModels, tmp_path: Path) -> None:
    """Its thoughts come in pieces, before the step that has the whole of them, and are no part of the answer."""
    models.answers[:] = [Reply(text="Four.", thinking="two and two")]
    outputs = play(member("claude", tmp_path), ("alice", "how many?"))
    assert thinking(outputs) == "two and two"
    assert told(outputs) == ["thought two and two"]
    assert isinstance(outputs[-1], Result)
    assert outputs[-1].text == "Four."


@pytest.mark.parametrize("name", CLIS)
def test_a_lost_conversation_is_begun_again(name: Name, models: FakeModels, tmp_path: Path) -> None:
    """An id that the CLI does not know is forgotten; the turn is played with all of the history."""
    who = member(name, tmp_path)
    play(who, ("alice", "good morning"))
    [kept] = (tmp_path / "kept").iterdir()
    text = kept.read_text()
    at = text.index('"session_id":"') + len('"session_id":"')
    kept.write_text(text[:at] + "00000000-0000-4000-8000-000000000000" + text[at + 36 :])
    outputs = play(member(name, tmp_path), ("alice", "good morning"), ("bob", "fine"), ("alice", "once more"))
    assert isinstance(outputs[-1], Result)
    assert "good morning" in models.asked[-1].prompt


@pytest.mark.parametrize("name", CLIS)
def test_tools_run_where_they_are_allowed(
    name: Name, models: FakeModels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`permissions: all`: a command runs in the team's folder; what it did and what came of it are steps."""
    monkeypatch.setenv("IS_SANDBOX", "1")  # else Claude Code does not let root
    outputs = play(member(name, tmp_path, "all"), ("alice", "RUN: touch made && echo hi-from-tool"))
    lines = told(outputs)
    assert any(line.startswith("action") and "touch made" in line for line in lines), lines
    assert any(line.startswith("observation") and "hi-from-tool" in line for line in lines), lines
    assert (tmp_path / "project" / "made").exists()


@pytest.mark.parametrize(("permissions", "is_made"), [("edit", True), ("read", False)])
def test_claude_edits_files_where_it_may(
    permissions: Literal["read", "edit"], is_made: bool, models: FakeModels, tmp_path: Path
) -> None:
    """`permissions: edit`: it writes a file in its folder without asking; `read`: it is told no, and so are we."""
    made = tmp_path / "project" / "made.txt"
    call = Call("Write", {"file_path": str(made), "content": "hello"})
    models.answers[:] = [lambda asked: Reply(text="done") if asked.results else Reply(calls=(call,))]
    outputs = play(member("claude", tmp_path, permissions), ("alice", "write it"))
    assert (made.exists(), isinstance(outputs[-1], Result)) == (is_made, True)
    assert f"action Write: {made}" in told(outputs)
    assert (f"observation not allowed: Write: {made}" in told(outputs)) == (not is_made)


@pytest.mark.skipif(os.geteuid() != 0, reason="Claude Code refuses this to root only")
def test_what_claude_does_not_let_root_do_is_final(models: FakeModels, tmp_path: Path) -> None:
    """Trying again would end the same; the sentence is Claude's own."""
    with pytest.raises(AgentError) as caught:
        play(member("claude", tmp_path, "all"), ("alice", "good morning"))
    assert (caught.value.error_type, "root" in str(caught.value)) == ("config", True)


@pytest.mark.parametrize("name", CLIS)
def test_tools_do_not_run_by_default(name: Name, models: FakeModels, tmp_path: Path) -> None:
    """`permissions: read`: nothing is written, and the turn still ends with an answer."""
    outputs = play(member(name, tmp_path), ("alice", "RUN: touch made"))
    assert isinstance(outputs[-1], Result)
    assert not (tmp_path / "project" / "made").exists()


@pytest.mark.parametrize("name", CLIS)
def test_a_wrong_key_is_final(name: Name, models: FakeModels, tmp_path: Path) -> None:
    """401 is `auth`, told in seconds, with what to do and without the key."""
    models.answers[:] = [401]
    with pytest.raises(AgentError) as caught:
        play(member(name, tmp_path), ("alice", "good morning"))
    assert caught.value.error_type == "auth"
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("name", CLIS)
def test_a_cancelled_turn_leaves_no_process(name: Name, models: FakeModels, tmp_path: Path) -> None:
    """A model that never answers: whoever stops waiting stops the CLI and all that it started."""
    models.answers[:] = [None]

    async def stop_midway() -> None:
        going = asyncio.create_task(act(member(name, tmp_path), chat_turn(("alice", "good morning"))))
        until = time.monotonic() + 60
        while not models.shown.is_set() and time.monotonic() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        going.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going

    need(name)
    asyncio.run(stop_midway())
    assert models.hung_up.wait(10)


GEMINI = AcpAgent(
    command=("gemini", "--acp", "-m", "fake-model"),
    env=("GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "HTTPS_PROXY", "NO_PROXY"),
)
CLAUDE = AcpAgent(
    command=("claude-agent-acp",),
    env=("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "HTTPS_PROXY", "NO_PROXY", *QUIET),
)


@pytest.mark.parametrize("spec", [GEMINI, CLAUDE], ids=["gemini", "claude-agent-acp"])
@pytest.mark.parametrize(("permit", "is_made"), [(deny, False), (allow, True)])
def test_an_acp_agent_asks_before_it_acts(
    spec: AcpAgent, permit: Permit, is_made: bool, models: FakeModels, tmp_path: Path
) -> None:
    """Over ACP a permission is asked for and counts; the turn ends with an answer and its tokens."""
    need(spec.command[0])
    who = AcpMember(spec, "Be brief.", place(tmp_path), permit)
    outputs = play(who, ("alice", "RUN: touch made && echo hi-from-tool"))
    assert any("not allowed: " in line for line in told(outputs)) == (not is_made)
    assert (tmp_path / "project" / "made").exists() == is_made
    if is_made:
        assert isinstance(outputs[-1], Result)
        assert (outputs[-1].usage.input_tokens, outputs[-1].usage.output_tokens) == (200, 40)


@pytest.mark.parametrize("is_allowed", [False, True])
@run
async def test_people_say_what_an_acp_agent_may_do(is_allowed: bool, models: FakeModels, tmp_path: Path) -> None:
    """Gemini CLI in a session: its permission is a question to people, and it does what they allow and nothing else."""
    need("gemini")
    gemini = AcpMember(GEMINI, "Be brief.", place(tmp_path))
    async with open_app(TRIO, agents={"bob": gemini}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] RUN: touch made && echo hi-from-tool"))
        await has(app, session, "agent.user_confirm")
        (step,) = await facts(app, session, StepAsked)
        assert "touch made" in step.question
        assert not (tmp_path / "project" / "made").exists()
        await session.submit(Answer(step_id=step.step_id, confirmed=is_allowed))
        await saying
        assert (tmp_path / "project" / "made").exists() == is_allowed


def next_of_three(asked: Asked) -> Reply:
    """Each hands over to the next one; the last gives the floor back."""
    follower = {"Claude": " [NEXT: Codex]", "Codex": " [NEXT: Gemini]"}
    for name in ("Claude", "Codex", "Gemini"):
        if f"You are {name}, a member" in asked.prompt:
            return Reply(text=f"{name} was here.{follower.get(name, '')}")
    return Reply(text="{}")  # what a CLI asks for itself


def with_model(team: TeamFile, model: str) -> TeamFile:
    members = [
        replace(each, agent=replace(each.agent, model=model)) if isinstance(each.agent, CliAgent) else each
        for each in team.members
    ]
    return replace(team, members=tuple(members))


@run
async def test_three_clis_work_in_one_team(models: FakeModels, tmp_path: Path) -> None:
    """The example: Claude Code, Codex and Gemini CLI hand over to each other, and the floor comes back to the human."""
    for name in CLIS:
        need(name)
    models.answers[:] = [next_of_three]
    team = with_model(load_team(EXAMPLE), "fake-model")
    async with open_app(team, folders={team.name: tmp_path / "project"}) as app:
        session = await app.session()
        await say(session, "[NEXT: Claude] Introduce yourselves.")
        said = [(fact.member, fact.text.strip()) for fact in await facts(app, session, MessagePosted)]
        assert said[1:] == [
            ("claude", "Claude was here."),
            ("codex", "Codex was here."),
            ("gemini", "Gemini was here."),
        ]
        assert (await session.state()).waiting_for == "alice"

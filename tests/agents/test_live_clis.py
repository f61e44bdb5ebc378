"""Claude Code and Codex over programs that stay, against a model on loopback. Skipped where they are not installed."""

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import pytest

from moot.agents.cli.cli_agent import CliAgent
from moot.app import App, Session, open_app
from moot.config.team_file import MemberSpec, TeamFile
from moot.core.session.commands import Answer, CancelTurn, End, Post
from moot.core.session.desk_events import MessageDelivered
from moot.core.session.events import MessagePosted, StepAsked, TurnCancelled, TurnStarted, TurnStepped
from moot.core.session.team import Kind
from tests.agents.fake_models import Asked, Call, FakeModels, Reply, fake_models
from tests.agents.programs import list_started, nothing_left
from tests.agents.real_clis import a_wall, answer, need, settle
from tests.runtime.apps import facts, has, run, say

Name = Literal["claude", "codex"]
CLIS: list[Name] = ["claude", "codex"]
ANSWERING = ("messages", "responses", "enerateContent")  # the paths that models answer at
TOKENS = 120  # that the fake model counts for a request


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModels]:
    """The model, a home, and proof that nothing else was asked for and nothing is left."""
    with nothing_left(), a_wall() as wall, fake_models(answer) as made:
        settle(tmp_path / "home", made, wall, monkeypatch)
        for folder in ("project", "tmp"):
            (tmp_path / folder).mkdir()
        monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))  # Codex wants its home elsewhere
        yield made
        assert wall.knocks == []


def make_team(name: str, **settings: Any) -> TeamFile:
    need(name)
    agent = CliAgent(preset=name, model="fake-model", **settings)
    members = (MemberSpec(id="ann", kind=Kind.HUMAN), MemberSpec(id="bob", kind=Kind.AI, agent=agent))
    return TeamFile(moot=1, name="live", members=members, sandbox="off")


@asynccontextmanager
async def opened(team: TeamFile, tmp_path: Path, **options: Any) -> AsyncIterator[App]:
    async with open_app(team, data=tmp_path / "data", folders={team.name: tmp_path / "project"}, **options) as app:
        yield app


async def said(app: App, session: Session) -> list[str]:
    return [fact.text for fact in await facts(app, session, MessagePosted) if fact.member == "bob"]


async def until(condition: Any, within_s: float = 30.0) -> None:
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("name", CLIS)
@run
async def test_one_program_plays_all_turns(name: Name, models: FakeModels, tmp_path: Path) -> None:
    """The second turn takes the same program and its conversation; the end of the session ends the program."""
    before = list_started()
    async with opened(make_team(name), tmp_path) as app:
        session = await app.session()
        await say(session, "[NEXT: bob] good morning")
        first = list_started() - before
        assert first
        await say(session, "[NEXT: bob] and in the evening?")
        assert first <= list_started()
        assert "good morning" not in models.asked[-1].prompt
        assert "good morning" in str(models.asked[-1].body)
        assert await said(app, session) == ["fine, thank you"] * 2
        await session.submit(End())
        await until(lambda: not list_started() - before)


@pytest.mark.parametrize("name", CLIS)
@run
async def test_an_idle_program_ends_and_its_conversation_goes_on(
    name: Name, models: FakeModels, tmp_path: Path
) -> None:
    """After `idle_s` nothing runs; the next turn resumes, and so does one after a restart of Moot."""
    before, team = list_started(), make_team(name)
    async with opened(team, tmp_path, idle_s=0.2) as app:
        session = await app.session()
        await say(session, "[NEXT: bob] first words")
        await until(lambda: not list_started() - before)
        await say(session, "[NEXT: bob] second words")
    async with opened(team, tmp_path) as app:
        session = await app.session(session.id)
        await say(session, "[NEXT: bob] third words")
    assert "first words" not in models.asked[-1].prompt
    assert all(words in str(models.asked[-1].body) for words in ("first words", "second words", "third words"))


@pytest.mark.parametrize("name", CLIS)
@run
async def test_a_cancelled_turn_is_remembered(name: Name, models: FakeModels, tmp_path: Path) -> None:
    """Nothing runs after it was cancelled; the next turn knows the conversation and is told that it was cut off."""
    before = list_started()
    async with opened(make_team(name), tmp_path) as app:
        session = await app.session()
        await say(session, "[NEXT: bob] first words")
        models.answers[:] = [None]
        models.shown.clear()
        saying = asyncio.create_task(say(session, "[NEXT: bob] never answered"))
        await until(models.shown.is_set)
        await session.submit(CancelTurn())
        await saying
        assert await facts(app, session, TurnCancelled)
        await until(lambda: not list_started() - before)
        models.answers[:] = [answer]
        await say(session, "[NEXT: bob] go on")
        assert "was cut off" in models.asked[-1].prompt
        assert "first words" in str(models.asked[-1].body)
        assert (await said(app, session))[-1] == "fine, thank you"


@pytest.mark.parametrize("name", CLIS)
@run
async def test_a_killed_program_is_resumed(name: Name, models: FakeModels, tmp_path: Path) -> None:
    """`kill -9` between two turns loses nothing."""
    before = list_started()
    async with opened(make_team(name), tmp_path) as app:
        session = await app.session()
        await say(session, "[NEXT: bob] first words")
        for pid in list_started() - before:
            with suppress(ProcessLookupError):  # it ended with its parent
                os.kill(pid, signal.SIGKILL)
        await until(lambda: not list_started() - before)
        await say(session, "[NEXT: bob] second words")
        assert "first words" in str(models.asked[-1].body)
        assert await said(app, session) == ["fine, thank you"] * 2


@pytest.mark.parametrize(("choice", "is_made"), [("allow_once", True), ("reject", False)])
@pytest.mark.parametrize("name", CLIS)
@run
async def test_people_allow_a_command(
    name: Name, choice: str, is_made: bool, models: FakeModels, tmp_path: Path
) -> None:
    """`permissions: ask`: the question has the command in full; it runs if people say yes."""
    async with opened(make_team(name, permissions="ask"), tmp_path) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] RUN: touch made && echo hi-from-tool"))
        await has(app, session, "agent.user_confirm")
        (step,) = await facts(app, session, StepAsked)
        assert "touch made && echo hi-from-tool" in step.question
        assert step.tool is not None
        assert step.tool.kind == "execute"
        assert not (tmp_path / "project" / "made").exists()
        await session.submit(Answer(step_id=step.step_id, choice=choice))
        await saying
        assert (tmp_path / "project" / "made").exists() == is_made
        ended = [fact.tool.status for fact in await facts(app, session, TurnStepped) if fact.tool and fact.tool.is_over]
        assert ended == ["completed" if is_made else "failed"]


@run
async def test_claude_shows_the_diff_before_it_edits(models: FakeModels, tmp_path: Path) -> None:
    """The question of an edit has its path and its diff; the step of the edit has the diff that was made."""
    file = tmp_path / "project" / "calc.py"
    file.write_text("a = 1\nb = 2\n")
    read = Call("Read", {"file_path": str(file)})
    edit = Call("Edit", {"file_path": str(file), "old_string": "b = 2", "new_string": "b = 3"})

    def work(asked: Asked) -> Reply:
        return [Reply(calls=(read,)), Reply(calls=(edit,)), Reply(text="done")][len(asked.results)]

    models.answers[:] = [work]
    async with opened(make_team("claude", permissions="ask"), tmp_path) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] change b"))
        await has(app, session, "agent.user_confirm")
        (step,) = await facts(app, session, StepAsked)
        assert step.question.startswith("Edit: calc.py\n--- calc.py")
        assert "-b = 2\n+b = 3" in (step.diff or "")
        await session.submit(Answer(step_id=step.step_id, confirmed=True))
        await saying
        edits = [fact for fact in await facts(app, session, TurnStepped) if fact.tool and fact.tool.kind == "edit"]
        assert edits[-1].tool is not None
        assert (edits[-1].tool.paths, edits[-1].tool.added, edits[-1].tool.removed) == (("calc.py",), 1, 1)
        assert file.read_text() == "a = 1\nb = 3\n"


@run
async def test_codex_is_shown_while_it_writes(models: FakeModels, tmp_path: Path) -> None:
    """Its answer comes in pieces, not at once at the end."""
    models.answers[:] = [Reply(text="one two three four five six seven eight")]
    pieces: list[str] = []
    async with opened(make_team("codex"), tmp_path) as app:
        session = await app.session()
        app.streams.listeners.add(lambda _session, event, frame: pieces.append(frame["text"]))
        await say(session, "[NEXT: bob] count")
        assert await said(app, session) == ["one two three four five six seven eight"]
    assert "".join(pieces) == "one two three four five six seven eight"
    assert len(pieces) > 1


@pytest.mark.parametrize(("name", "how"), [("claude", "boundary"), ("codex", "now")])
@run
async def test_a_message_reaches_the_running_turn(name: Name, how: str, models: FakeModels, tmp_path: Path) -> None:
    """The agent takes it in the same turn; it is logged how, and nobody waits in the queue for it."""
    (tmp_path / "project" / "notes.txt").write_text("red\n")
    is_asked, is_steered = threading.Event(), threading.Event()

    def paint(asked: Asked) -> Reply:
        if "in blue, please" in str(asked.body):
            return Reply(text="blue it is")
        is_asked.set()
        is_steered.wait(30)
        read = Call("Read", {"file_path": str(tmp_path / "project" / "notes.txt")})
        return Reply(calls=(read,)) if name == "claude" else Reply(text="red it is")

    models.answers[:] = [paint]
    async with opened(make_team(name), tmp_path) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] paint it"))
        await until(is_asked.is_set)
        await session.submit(Post(text="@bob in blue, please"))
        await has(app, session, "turn.message_delivered")
        is_steered.set()
        await saying
        assert [fact.how for fact in await facts(app, session, MessageDelivered)] == [how]
        assert (await said(app, session))[-1].endswith("blue it is")
        assert len(await facts(app, session, TurnStarted)) == 1


@pytest.mark.parametrize("name", CLIS)
@run
async def test_an_interrupted_turn_goes_on_with_both(name: Name, models: FakeModels, tmp_path: Path) -> None:
    """`/interrupt`: the prompt that runs is ended, and the next one of the same conversation has the message."""
    models.answers[:] = [None]
    async with opened(make_team(name), tmp_path) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] first words"))
        await until(models.shown.is_set)
        models.answers[:] = [answer]
        await session.submit(Post(text="/interrupt bob other words"))
        await saying
        assert [fact.reason for fact in await facts(app, session, TurnCancelled)] == ["interrupted"]
        assert all(words in str(models.asked[-1].body) for words in ("first words", "other words"))
        assert await said(app, session) == ["fine, thank you"]


@pytest.mark.parametrize("lifetime", ["session", "turn"])
@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
@run
async def test_tokens_are_those_that_the_model_counted(
    name: str, lifetime: Literal["session", "turn"], models: FakeModels, tmp_path: Path
) -> None:
    """Two turns of one program, one with a tool, and one of a program that resumed: every request counts once."""
    team = make_team(name, lifetime=lifetime)
    async with opened(team, tmp_path) as app:
        session = await app.session()
        await say(session, "[NEXT: bob] RUN: echo hi-from-tool")
        await say(session, "[NEXT: bob] and again")
    async with opened(team, tmp_path) as app:
        session = await app.session(session.id)
        await say(session, "[NEXT: bob] and after a restart")
        spent = (await session.state()).spent_by_member["bob"]
    counted = [asked for asked in models.asked if asked.path.endswith(ANSWERING)]
    assert len(counted) >= 3
    assert (spent.turns, spent.tokens) == (3, len(counted) * (TOKENS))

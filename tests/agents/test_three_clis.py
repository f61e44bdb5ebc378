"""Claude Code, Codex and Gemini CLI in one conversation, against a model on loopback. Skipped where one is missing."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from moot.agents.cli.cli_agent import CliAgent
from moot.app import App, Session, open_app
from moot.config.team_file import MemberSpec, TeamFile
from moot.core.session.commands import Answer, End, Post
from moot.core.session.desk_events import MemberAnswered, MessageDelivered
from moot.core.session.events import MessagePosted, StepAsked, TurnFailed
from moot.core.session.team import Kind
from tests.agents.fake_models import Asked, Call, FakeModels, Reply, fake_models
from tests.agents.programs import list_started, nothing_left
from tests.agents.real_clis import MODEL, a_wall, need, settle
from tests.runtime.apps import facts, has, say, until

pytest.importorskip("mcp")
pytest.importorskip("acp")

WITHIN_S = 240


class Minds:
    """What the three models think: each is known by the API that its program speaks."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.is_asked = threading.Event()  # Codex has its answer from Gemini and thinks
        self.is_steered = threading.Event()

    def answer(self, asked: Asked) -> Reply:
        match asked.dialect:
            case "anthropic":
                return self._edit(asked)
            case "openai-responses":
                return self._paint(asked)
            case _:
                return Reply(text="Version 3.11, I think.")

    def _edit(self, asked: Asked) -> Reply:
        """Claude changes a file and hands over; later it says what it remembers."""
        if "What did you change" in asked.prompt:
            return Reply(text=f"I remember: {'b = 3' in str(asked.body)}.")
        path = {"file_path": str(self._file)}
        edit = {**path, "old_string": "b = 2", "new_string": "b = 3"}
        work = [Reply(calls=(Call("Read", path),)), Reply(calls=(Call("Edit", edit),))]
        return [*work, Reply(text="b is 3 now. [NEXT: Codex]")][min(len(asked.results), 2)]

    def _paint(self, asked: Asked) -> Reply:
        """Codex asks Gemini for a version, then is told of a colour while it thinks."""
        if "in blue, please" in str(asked.body):
            return Reply(text=f"Blue, for {'3.11' if '3.11' in str(asked.body) else 'nobody'}.")
        if not asked.results:
            arguments = {"member": "Gemini", "question": "Which version?"}
            return Reply(calls=(Call("ask_member", arguments, "mcp__moot"),))
        self.is_asked.set()
        self.is_steered.wait(WITHIN_S)
        return Reply(text="Red.")


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModels]:
    with nothing_left(), a_wall() as wall, fake_models("") as made:
        settle(tmp_path / "home", made, wall, monkeypatch)
        for folder in ("project", "tmp"):
            (tmp_path / folder).mkdir()
        monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
        yield made
        assert wall.knocks == []


def make_team() -> TeamFile:
    ann = MemberSpec(id="ann", name="Ann", kind=Kind.HUMAN)
    names = {"claude": "Claude", "codex": "Codex", "gemini": "Gemini"}
    for program in names:
        need(program)
    clis = [
        MemberSpec(id=each, name=name, kind=Kind.AI, agent=CliAgent(preset=each, model=MODEL, permissions="ask"))
        for each, name in names.items()
    ]
    return TeamFile(moot=1, name="three", members=(ann, *clis), sandbox="off", language="en")


async def said(app: App, session: Session, member: str) -> list[str]:
    return [fact.text.strip() for fact in await facts(app, session, MessagePosted) if fact.member == member]


async def converse(models: FakeModels, tmp_path: Path) -> None:
    before, file = list_started(), tmp_path / "project" / "calc.py"
    file.write_text("a = 1\nb = 2\n")
    minds = Minds(file)
    models.answers[:] = [minds.answer]
    team = make_team()
    async with open_app(team, data=tmp_path / "data", folders={team.name: tmp_path / "project"}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: Claude] Make b 3, then let Codex paint it."))
        # one asks for a permission, with the change that it will make
        await has(app, session, "agent.user_confirm")
        (step,) = await facts(app, session, StepAsked)
        assert "-b = 2\n+b = 3" in (step.diff or "")
        assert file.read_text() == "a = 1\nb = 2\n"
        await session.submit(Answer(step_id=step.step_id, confirmed=True, by="ann"))
        # one asks a team-mate by its tool, and is steered while it thinks about the answer
        await until(minds.is_asked.is_set)
        assert [fact.answer for fact in await facts(app, session, MemberAnswered)] == ["Version 3.11, I think."]
        await session.submit(Post(text="@Codex in blue, please", by="ann"))
        await has(app, session, "turn.message_delivered")
        minds.is_steered.set()
        await saying
        assert file.read_text() == "a = 1\nb = 3\n"
        assert [fact.how for fact in await facts(app, session, MessageDelivered)] == ["now"]
        assert await said(app, session, "codex") == ["Blue, for 3.11."]
        # one is killed, and goes on with its memory
        for pid in list_started() - before:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await say(session, "[NEXT: Claude] What did you change?")
        assert (await said(app, session, "claude"))[-1] == "I remember: True."
        assert await facts(app, session, TurnFailed) == []
        await session.submit(End(by="ann"))
        await until(lambda: not list_started() - before)


def test_three_clis_are_asked_steered_and_killed(models: FakeModels, tmp_path: Path) -> None:
    """Claude asks for a permission with its diff, Codex asks Gemini and is steered, Claude is killed and remembers."""
    asyncio.run(asyncio.wait_for(converse(models, tmp_path), WITHIN_S))

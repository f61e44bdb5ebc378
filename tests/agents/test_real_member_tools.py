"""Claude Code and Codex themselves use Moot's own tools, against a model on loopback. Skipped without them."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.agents.cli.cli_agent import CliAgent
from moot.app import open_app
from moot.config.team_file import MemberSpec
from moot.core.codec import Event
from moot.core.session.commands import Answer
from moot.core.session.desk_events import HandedOver, MemberAnswered
from moot.core.session.events import MessagePosted, StepAsked
from moot.core.session.team import Kind
from moot.testing import human, make_team, scripted
from tests.agents.fake_models import Asked, Call, FakeModels, Reply, fake_models
from tests.agents.programs import nothing_left
from tests.agents.real_clis import a_wall, need, settle
from tests.runtime.apps import facts, has, run

pytest.importorskip("mcp")

STORY: dict[str, dict[str, Any]] = {
    "ask_human": {"question": "Which database?", "options": ["sqlite", "postgres"]},
    "ask_member": {"member": "Carol", "question": "Which version?"},
    "hand_over": {"member": "Carol", "reason": "your part"},
}


def use_tools(asked: Asked) -> Reply:
    """Call one tool of the story after the other, then say what they said."""
    done = len(asked.results)
    if done >= len(STORY):
        return Reply(text=" / ".join(asked.results))
    name = list(STORY)[done]
    if any(tool.get("name") == "mcp__moot" for tool in asked.body["tools"]):
        return Reply(calls=(Call(name, STORY[name], "mcp__moot"),))
    return Reply(calls=(Call(f"mcp__moot__{name}", STORY[name]),))


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModels]:
    with nothing_left(), a_wall() as wall, fake_models(use_tools) as made:
        settle(tmp_path / "home", made, wall, monkeypatch)
        yield made


@pytest.mark.parametrize("name", ["claude", "codex"])
@run
async def test_a_cli_asks_people_and_a_team_mate_and_hands_over(name: str, models: FakeModels, tmp_path: Path) -> None:
    """In one turn: the human's answer and the team-mate's reach its model, and the team-mate speaks next."""
    need(name)
    cli = MemberSpec(id="cli", kind=Kind.AI, agent=CliAgent(preset=name, model="fake-model"))
    team = make_team(human("alice"), cli, scripted("carol", "3.11", "my part"))
    async with open_app(team, data=tmp_path / "data", folders={team.name: tmp_path}) as app, asyncio.timeout(100):
        session = await app.session()
        following = asyncio.ensure_future(_drain(session.say("[NEXT: cli] go")))
        await has(app, session, "agent.user_confirm")
        (step,) = await facts(app, session, StepAsked)
        assert (step.question, [option.id for option in step.options]) == ("Which database?", ["sqlite", "postgres"])
        await session.submit(Answer(step_id=step.step_id, choice="postgres", by="alice"))
        await following
        said = [(fact.member, fact.text) for fact in await facts(app, session, MessagePosted)]
        assert said[1][0] == "cli"
        assert "postgres" in said[1][1]
        assert "3.11" in said[1][1]
        assert said[2] == ("carol", "my part")
        assert [fact.answer for fact in await facts(app, session, MemberAnswered)] == ["3.11"]
        assert [fact.to for fact in await facts(app, session, HandedOver)] == ["carol"]


async def _drain(events: AsyncIterator[Event]) -> None:
    async for _ in events:
        pass

"""Twenty secrets that a member repeats are nowhere: not in what is shown live, not in the log, not in an export."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from moot.agents.llm.llm_agent import LlmAgent
from moot.app import App, Session, open_app
from moot.config.team_file import MemberSpec, TeamFile
from moot.core.flows.turns import TurnInput
from moot.core.session.team import Kind
from moot.core.session.tool_use import ToolUse
from moot.runtime.ports import Delta, Result, Step, Thinking
from moot.telling.markdown import to_markdown
from moot.testing import human, make_team
from tests.agents.fake_models import Reply, fake_models
from tests.runtime.apps import read, run, say

SECRETS = {f"PLANTED_{number}_API_KEY": f"sk-planted-{number:02}-{'x' * number}" for number in range(20)}
ALL = " and ".join(SECRETS.values())


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


async def blab(turn: TurnInput) -> AsyncIterator[Delta | Thinking | Step | Result]:
    """Tell everything, character by character, in steps, and in the result."""
    for char in ALL:
        yield Thinking(char)
    yield Step(thought=ALL, action=f"echo {ALL}", observation=ALL, diff=f"+{ALL}")
    yield Step(action="x", tool=ToolUse(id="1", kind="execute", title=ALL, paths=(SECRETS["PLANTED_7_API_KEY"],)))
    for char in ALL:
        yield Delta(char)
    yield Result(text=ALL, state={"key": [ALL]}, plan={ALL: ALL})


async def everything(app: App, session: Session, shown: list[str]) -> str:
    events = await read(app, session)
    exported = to_markdown(events)
    return "\n".join(["".join(shown), *(str(event.fact) for event in events), exported])


async def play(team: TeamFile, **options: Any) -> str:
    """Everything that there is to see of a turn of bob's."""
    shown: list[str] = []
    async with open_app(team, **options) as app:
        session = await app.session()
        app.streams.listeners.add(lambda _session, _event, frame: shown.append(frame["text"]))
        await say(session, "[NEXT: bob] tell me")
        assert "[PLANTED_3_API_KEY]" in "".join(shown)
        return await everything(app, session, shown)


def count_leaks(text: str) -> list[str]:
    return [value for value in SECRETS.values() if value in text or json.dumps(value)[1:-1] in text]


@run
async def test_a_function_leaks_nothing() -> None:
    """Pieces of any size, thoughts, steps, uses of tools, results with data."""
    bob = MemberSpec(id="bob", kind=Kind.AI)
    assert count_leaks(await play(make_team(human("alice"), bob), agents={"bob": blab})) == []


@run
async def test_a_model_leaks_nothing() -> None:
    """Its answer in pieces, and what it thinks."""
    with fake_models(Reply(text=ALL, thinking=ALL, pieces=97)) as models:
        agent = LlmAgent(model="fake", base_url=models.url, key="PLANTED_1_API_KEY")
        bob = MemberSpec(id="bob", kind=Kind.AI, agent=agent)
        assert count_leaks(await play(make_team(human("alice"), bob))) == []


@run
async def test_an_error_leaks_nothing() -> None:
    """What a provider says about a failure is shown to people."""
    with fake_models(Reply(status=400, body=json.dumps({"error": {"message": ALL}}).encode())) as models:
        agent = LlmAgent(model="fake", base_url=models.url, key="PLANTED_1_API_KEY")
        bob = MemberSpec(id="bob", kind=Kind.AI, agent=agent)
        async with open_app(make_team(human("alice"), bob)) as app:
            session = await app.session()
            await say(session, "[NEXT: bob] tell me")
            assert count_leaks(await everything(app, session, [])) == []

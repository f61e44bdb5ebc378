"""Twenty secrets that a member repeats are nowhere: not in what is shown live, not in the log, not in an export."""

import json
import os
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from moot.agents.cli.cli_agent import CliAgent
from moot.agents.environment import hide_secrets
from moot.agents.llm.llm_agent import LlmAgent
from moot.agents.member_tools import NAMES, PARAMETERS, MemberTools
from moot.agents.output_limits import Censor
from moot.agents.permits import People, PermissionRequest
from moot.app import App, Session, open_app
from moot.config.team_file import MemberSpec, TeamFile
from moot.core.flows.turns import TurnInput
from moot.core.session.team import Kind
from moot.core.session.tool_use import ToolUse
from moot.runtime.ports import Delta, Result, Step, Thinking
from moot.telling.markdown import to_markdown
from moot.testing import human, make_team
from tests.agents.fake_models import Reply, fake_models
from tests.agents.turns import chat_turn
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


@run
async def test_a_program_leaks_nothing_that_it_was_not_given(tmp_path: Path) -> None:
    """It may have found a key of Moot's own elsewhere, in a file or in what somebody said."""
    (tmp_path / "found.txt").write_text(ALL)
    program = (sys.executable, "-IS", "-c", "print(open('found.txt').read())")
    bob = MemberSpec(id="bob", kind=Kind.AI, agent=CliAgent(command=program))
    team = make_team(human("alice"), bob)
    assert count_leaks(await play(team, folders={team.name: tmp_path})) == []


@pytest.mark.parametrize("size", [1, 3, 9, 100])
def test_a_secret_that_begins_or_ends_with_another_is_held_back_whole(size: int) -> None:
    """Pieces of any size: the first that begins is hidden, as long as it goes on."""
    environment = {"A_TOKEN": "canary-one", "B_TOKEN": "canary-one-two", "C_TOKEN": "two-three"}
    text = "canary-one-tw canary-one-two-three canary-one canary"
    censor = Censor(environment)
    outputs: list[Delta | Result] = [Delta(text[at : at + size]) for at in range(0, len(text), size)]
    outputs.append(Result(text=""))
    shown = [each.text for output in outputs for each in censor.admit(output) if isinstance(each, Delta)]
    assert "".join(shown) == "[A_TOKEN]-tw [B_TOKEN]-three [A_TOKEN] canary"


class Desk:
    """Writes down what a member tells by its tools and asks."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def __getattr__(self, name: str) -> Any:
        async def tell(*arguments: object, **_: object) -> str:
            self.told += arguments
            return "yes"

        return tell

    async def __call__(self, *arguments: object, **more: object) -> str:
        self.told += [*arguments, *more.values()]
        return "allow_once"


@run
async def test_tools_and_permissions_leak_nothing(tmp_path: Path) -> None:
    """What is asked by a tool, and what is asked about: the command, its title, the change."""
    desk: Any = Desk()
    tools = MemberTools(chat_turn(("alice", "hello")), desk, tmp_path)
    (tmp_path / SECRETS["PLANTED_3_API_KEY"]).write_text(ALL)
    for name in NAMES:
        given = {each: [ALL] if kind["type"] == "array" else ALL for each, kind in PARAMETERS[name].items()}
        given |= {each: "carol" for each in ("to", "member") if each in given}
        await tools.call(name, {**given, "path": SECRETS["PLANTED_3_API_KEY"]} if name == "show_file" else given)
    used = ToolUse(id="1", kind="execute", title=f"echo {ALL}", paths=(SECRETS["PLANTED_7_API_KEY"],))
    people = People(desk, "en", (), (), partial(hide_secrets, environment=os.environ))
    request = PermissionRequest(tool=used, name="Bash", key="k", command=f"echo {ALL}", diff=f"+{ALL}")
    assert await people.permit(request)
    assert len(desk.told) > 12
    assert count_leaks(str(desk.told)) == []

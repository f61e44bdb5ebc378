"""An agent type is a struct with its factory and what it starts; packages may add one."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

import moot
from moot.agents.agent_type import AgentType, Seat
from moot.agents.starts import list_starts
from moot.config.agent_specs import AgentSpec, list_agent_types
from moot.config.loading import InvalidTeam, load_team
from moot.config.team_schema import team_schema
from moot.config.trust import Start
from moot.core.errors import ConfigError
from moot.runtime.ports import Agent
from tests.cli.command import Moot
from tests.extensions.conftest import Install

ECHO = """
from typing import Annotated

from msgspec import Meta, Struct

from moot.agents.agent_type import AgentType
from moot.agents.python import agent
from moot.config.trust import Start

class EchoAgent(AgentType, Struct, frozen=True, kw_only=True, forbid_unknown_fields=True,
                tag_field="type", tag="{name}"):
    prefix: Annotated[str, Meta(description="said before each message")] = ""

    def starts(self, member):
        return [Start(member=member, argv=("echo", self.prefix))]

    def make(self, seat):
        @agent
        async def act(turn):
            return f"{{self.prefix}} {{seat.instructions}} {{turn.message.text.strip()}}"
        return act

ENTRY = EchoAgent
"""


def team(kind: str, **agent: Any) -> dict[str, Any]:
    bob = {"id": "bob", "kind": "ai", "instructions": "loudly", "agent": {"type": kind, **agent}}
    return {"members": [{"id": "ann", "kind": "human"}, bob]}


def test_an_installed_type_plays_a_member(install: Install) -> None:
    """Its settings are checked and decoded, its member speaks, and its programs are asked about."""
    install("moot.agents", "echo", ECHO.format(name="echo"))

    async def play() -> list[str]:
        async with moot.open(team("echo", prefix="hear:")) as app:
            session = await app.session()
            async for _ in session.say("[NEXT: bob] hello"):
                pass
            return [message.text for message in (await session.state()).history]

    assert asyncio.run(play())[-1] == "hear: loudly hello"
    [start] = list_starts(load_team(team("echo", prefix="hear:")))
    assert str(start) == "bob: echo hear:"
    assert team_schema()["$defs"]["EchoAgent"]["properties"]["prefix"]["description"] == "said before each message"


def test_settings_of_an_installed_type_are_checked(install: Install) -> None:
    """Unknown keys and wrong types are found like those of the built-in types."""
    install("moot.agents", "echo2", ECHO.format(name="echo2"))
    with pytest.raises(InvalidTeam) as refused:
        load_team(team("echo2", prefix=3, volume=11))
    assert [problem.path[-1] for problem in refused.value.problems] == ["volume", "prefix"]


def test_an_unknown_type_names_those_there_are() -> None:
    """The sentence lists every type that is installed."""
    with pytest.raises(InvalidTeam, match="acceptable: script, llm, cli, acp, python"):
        load_team(team("telepathy"))


def test_programs_of_an_installed_type_need_trust(install: Install, moot: Moot, tmp_path: Path) -> None:
    """The command line starts nothing that its type declares before a person has allowed it."""
    install("moot.agents", "echo3", ECHO.format(name="echo3"))
    file = tmp_path / "team.yaml"
    file.write_text(
        "moot: 1\nname: duo\nmembers:\n  - {id: ann, kind: human}\n"
        "  - {id: bob, kind: ai, agent: {type: echo3, prefix: hm}}\n"
    )
    refused = moot("run", str(file), "--say", "[NEXT: bob] hello")
    assert refused.code == 3
    assert "bob: echo hm" in refused.err


def test_a_package_in_the_current_folder_is_not_installed(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading a team file that somebody else wrote imports nothing that lies beside it."""
    install("moot.agents", "echo4", ECHO.format(name="echo4"))
    monkeypatch.chdir(tmp_path / "site")
    with pytest.raises(InvalidTeam, match="acceptable: script, llm, cli, acp, python"):
        load_team(team("echo4"))
    assert "moot_echo4" not in sys.modules


def test_a_type_that_forgets_a_method_cannot_be_defined() -> None:
    """A forgotten `starts` would run programs without the question of trust: it fails when the module is imported."""
    with pytest.raises(TypeError, match="Careless must define starts"):

        class Careless(AgentType, Struct, tag_field="type", tag="careless"):
            def make(self, seat: Seat) -> Agent:
                raise NotImplementedError

    with pytest.raises(TypeError, match="Idle must define make"):

        class Idle(AgentType, Struct, tag_field="type", tag="idle"):
            def starts(self, member: str) -> tuple[Start, ...]:
                return ()


def test_every_built_in_type_is_complete() -> None:
    """Each loads, is called by its tag, and can be played."""
    kinds = list_agent_types()
    assert list(kinds) == ["script", "llm", "cli", "acp", "python"]
    assert all(kind.__struct_config__.tag == name for name, kind in kinds.items())
    assert all(issubclass(kind, AgentType) for kind in kinds.values())


def test_what_is_no_agent_type_is_refused(install: Install) -> None:
    """An entry that is something else fails with its name."""
    install("moot.agents", "odd_agent", "ENTRY = str")
    with pytest.raises(ConfigError, match=r"moot.agents entry 'odd_agent' is .* it must be a struct"):
        load_team(team("odd_agent"))
    assert not issubclass(str, AgentSpec)

"""Makes the understander of each team, as its team file says."""

from collections.abc import Callable, Iterable
from contextlib import aclosing
from functools import partial
from itertools import count
from typing import Any

from moot.agents.llm.model_client import ModelClient
from moot.config.prompts import insert, read_template
from moot.config.team_file import TeamFile
from moot.core.errors import AgentError
from moot.core.flows.turns import TurnInput
from moot.core.session.attachments import HandedFile
from moot.core.session.state import Message
from moot.core.session.team import Kind, Language, Member, member
from moot.runtime.ports import Agent, Result, Understander
from moot.runtime.understanding.llm import CompleteJson, LlmUnderstander
from moot.runtime.understanding.rules.understand import RulesUnderstander

FindAgent = Callable[[str], Agent]  # by the name of a team; raises AgentError


class Understanders:
    """The understanders of the loaded teams.

    Args:
        find_agent: finds the agent that understands inputs of a team with `understanding: {type: agent}`.
    """

    def __init__(self, teams: Iterable[TeamFile], find_agent: FindAgent) -> None:
        self._rules = RulesUnderstander()
        self._find_agent = find_agent
        self._by_team = {team.name: self._make(team) for team in teams}

    def load(self, team: TeamFile) -> None:
        """Add a team, or reload its file."""
        self._by_team[team.name] = self._make(team)

    def find(self, team_name: str) -> Understander:
        """Return the understander of a team; the rules if its team file is not loaded here."""
        return self._by_team.get(team_name, self._rules)

    def _make(self, team: TeamFile) -> Understander:
        complete = self._choose(team)
        if complete is None:
            return self._rules
        understanding = team.prompts.understanding or read_template("understanding", team.language)
        routing = team.prompts.routing or read_template("routing", team.language)
        return LlmUnderstander(complete, insert(routing, understanding, "routing"), team.understander().timeout_s)

    def _choose(self, team: TeamFile) -> CompleteJson | None:
        chosen = team.understander()
        if chosen.type == "llm" and chosen.model is not None:
            return ModelClient(chosen.model, chosen.base_url).complete_json
        if chosen.type != "agent":
            return None
        player = team.team().member(chosen.member) if chosen.member else member("understanding", Kind.AI)
        return AgentCompletion(partial(self._find_agent, team.name), player, team.language).complete_json


class AgentCompletion:
    """Has an agent answer a prompt, in a turn that is not part of the session and is not logged."""

    def __init__(self, find: Callable[[], Agent], player: Member, language: Language) -> None:
        self._find = find
        self._player = player
        self._language = language
        self._numbers = count()

    async def complete_json(
        self,
        prompt: str,
        schema: dict[str, Any],  # noqa: ARG002 - the prompt has it
        images: tuple[HandedFile, ...] = (),
    ) -> Result:
        """Return the agent's result. Raises AgentError."""
        number = next(self._numbers)
        turn = TurnInput(
            session_id="",
            turn_id=f"understand{number + 1}",
            member=self._player,
            index=number,
            message=Message(member="", text=prompt),
            history=(),
            team_task="",
            addressable=(),
            language=self._language,
            job="understand",
            attachments=images,
        )
        async with aclosing(self._find().act(turn)) as outputs:
            async for output in outputs:
                if isinstance(output, Result):
                    return output
        raise AgentError("agent", "the agent that understands ended without a result")

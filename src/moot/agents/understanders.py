"""Makes the understander of each team, as its team file says."""

from collections.abc import Iterable

from moot.agents.llm.model_client import ModelClient
from moot.config.prompts import insert, read_template
from moot.config.team_file import TeamFile
from moot.core.session.team import DEFAULT_LANGUAGE
from moot.runtime.ports import Understander
from moot.runtime.understanding.llm import LlmUnderstander
from moot.runtime.understanding.rules.understand import RulesUnderstander


class Understanders:
    def __init__(self, teams: Iterable[TeamFile]) -> None:
        self._rules = RulesUnderstander()
        self._by_team = {team.name: self._make(team) for team in teams}

    def find(self, team_name: str) -> Understander:
        """Return the understander of a team; the rules if its team file is not loaded here."""
        return self._by_team.get(team_name, self._rules)

    def _make(self, team: TeamFile) -> Understander:
        chosen = team.understander()
        if chosen.type != "llm" or chosen.model is None:
            return self._rules
        model = ModelClient(chosen.model, chosen.base_url)
        understanding = team.prompts.understanding or read_template("understanding", DEFAULT_LANGUAGE)
        routing = team.prompts.routing or read_template("routing", DEFAULT_LANGUAGE)
        return LlmUnderstander(model.complete_json, insert(routing, understanding, "routing"))

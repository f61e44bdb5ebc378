"""Given / when / then for the supervisor flow, with a method for each thing that agents, tools and people do.

supervisor_given(team).starts("a post").decides("writer_agent").acts(state={"generatedContent": {…}})
"""

from typing import Any, Self

import msgspec

from moot.config.team_file import TeamFile
from moot.core.flows.supervisor.supervision import Supervision
from moot.core.flows.supervisor.supervisor_settings import SUPERVISOR
from moot.core.flows.supervisor.supervisor_slice import current_job
from moot.core.intake.intent import Relation
from moot.core.session.commands import Answer, CompleteTool, CompleteTurn, ReportUnderstanding
from moot.core.session.events import StepAsked
from moot.core.session.state import Turn
from moot.core.session.team import Team
from moot.testing.intents import analyse
from moot.testing.scenario import Scenario


class SupervisorScenario(Scenario):
    """A session of the supervisor flow."""

    def starts(self, goal: str, by: str | None = None) -> Self:
        """A human posts a goal and a job starts."""
        self.says(goal, by)
        return self.understands("different_task") if self.state.door.inputs else self

    def understands(self, relation: Relation, confidence: float = 0.95, **fields: Any) -> Self:
        """The understander reports this analysis of the oldest input."""
        analysis = analyse(relation, confidence, **fields)
        return self.when(ReportUnderstanding(input_id=self.state.door.inputs[0].input_id, analysis=analysis))

    def decides(self, next_agent: Any, **fields: Any) -> Self:
        """The supervisor returns a decision as JSON."""
        decision = {"next_agent": next_agent, **fields}
        return self.mutters(msgspec.json.encode(decision).decode())

    def mutters(self, text: str, **result: Any) -> Self:
        """The supervisor returns any text."""
        assert self.turn.job == SUPERVISOR, f"{self.turn.job} acts"  # noqa: S101
        return self.when(CompleteTurn(turn_id=self.turn.turn_id, text=text, **result))

    def acts(self, text: str = "done", **result: Any) -> Self:
        """The chosen agent returns text, and `state`, `tool_calls` or `ask`."""
        assert self.turn.job != SUPERVISOR, "the supervisor acts"  # noqa: S101
        return self.when(CompleteTurn(turn_id=self.turn.turn_id, text=text, **result))

    def tool_gives(self, result: Any = None, error: str = "") -> Self:
        """The oldest running tool call returns a result or an error."""
        call_id = next(iter(self.job.calls))
        return self.when(CompleteTool(call_id=call_id, result=result, error=error))

    def answers(self, by: str | None = None, **fields: Any) -> Self:
        """A human answers the open question; `fields` are those of `Answer`."""
        return self.when(Answer(step_id=self.question.step_id, by=by, **fields))

    @property
    def job(self) -> Supervision:
        return current_job(self.state)

    @property
    def shared(self) -> dict[str, Any]:
        """The state that the agents share."""
        return self.job.state

    @property
    def turn(self) -> Turn:
        assert self.state.running, f"nobody acts; {self.state.pause_reason}"  # noqa: S101
        return self.state.running[0]

    @property
    def acting(self) -> str:
        """The job of the running turn: the supervisor or an agent."""
        return self.turn.job

    @property
    def question(self) -> StepAsked:
        assert self.state.open_steps, "nothing is asked"  # noqa: S101
        return next(iter(self.state.open_steps.values()))


def supervisor_given(team: Team | TeamFile) -> SupervisorScenario:
    """Start a session of the supervisor flow with this team."""
    return SupervisorScenario(team.team() if isinstance(team, TeamFile) else team)

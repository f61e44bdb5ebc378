"""Given / when / then for the plan flow: what planners, workers, timers and people do, in words.

plan_given(team).says("a report").understands("different_task").plans(task("a"), task("b", "a")).approves()
"""

from typing import Any, Self

from moot.config.team_file import TeamFile
from moot.core.commands import (
    AckDispatch,
    Answer,
    CompleteTurn,
    EndWait,
    ExpireLease,
    FailTurn,
    NackDispatch,
    ReportStep,
    ReportUnderstanding,
    StartTask,
)
from moot.core.events import StepAsked
from moot.core.intent import IntentAnalysis, Relation
from moot.core.machines.task import State as TaskState
from moot.core.plan.state import TaskRun, Work
from moot.core.state import Turn
from moot.core.team import Team
from moot.testing.intents import analyse
from moot.testing.scenario import Scenario


def task(task_id: str, *depends_on: str, **fields: Any) -> dict[str, Any]:
    """A task as a planner writes it."""
    return {"id": task_id, "title": f"Task {task_id}", "depends_on": list(depends_on), **fields}


class PlanScenario(Scenario):
    """A session of the plan flow. Tasks are named by their ids."""

    # what an understander, a planner, a reviewer and an aggregator do

    def understands(self, relation: Relation | IntentAnalysis, confidence: float = 0.95, **fields: Any) -> Self:
        """The input that is being understood means this."""
        analysis = relation if isinstance(relation, IntentAnalysis) else analyse(relation, confidence, **fields)
        return self.when(ReportUnderstanding(input_id=self.state.door.inputs[0].input_id, analysis=analysis))

    def plans(self, *tasks: Any, summary: str = "a plan") -> Self:
        """The planner returns these tasks."""
        return self.when(
            CompleteTurn(turn_id=self.turn("plan").turn_id, text="", plan={"summary": summary, "tasks": list(tasks)})
        )

    def patches(self, *patches: Any) -> Self:
        """The planner returns these changes."""
        return self.when(CompleteTurn(turn_id=self.turn("patch").turn_id, text="", patches=patches))

    def reviews(self, task_id: str, *, passes: bool, feedback: str = "") -> Self:
        verdict = {"pass": passes, "feedback": feedback}
        return self.when(CompleteTurn(turn_id=self.turn("review", task_id).turn_id, text="", review=verdict))

    def aggregates(self, text: str = "the answer") -> Self:
        return self.when(CompleteTurn(turn_id=self.turn("aggregate").turn_id, text=text))

    def job_fails(self, job: str, error_type: str = "network", message: str = "boom", task_id: str = "") -> Self:
        """The turn of a planner, reviewer or aggregator fails."""
        turn_id = self.turn(job, task_id).turn_id
        return self.when(FailTurn(turn_id=turn_id, error_type=error_type, message=message))

    # what a worker does

    def acks(self, task_id: str) -> Self:
        return self.when(AckDispatch(dispatch_id=self.dispatch_id(task_id)))

    def nacks(self, task_id: str, reason: str = "busy") -> Self:
        return self.when(NackDispatch(dispatch_id=self.dispatch_id(task_id), reason=reason))

    def starts(self, task_id: str) -> Self:
        """Taken, if that was not said yet, and begun."""
        if self.run(task_id).state is TaskState.DISPATCHING:
            self.acks(task_id)
        return self.when(StartTask(dispatch_id=self.dispatch_id(task_id)))

    def steps(self, task_id: str, thought: str = "thinking", total: int | None = None) -> Self:
        return self.when(ReportStep(turn_id=self.dispatch_id(task_id), thought=thought, total=total))

    def completes(self, task_id: str, text: str = "done") -> Self:
        """Taken and begun, if that was not said yet, and finished."""
        if self.run(task_id).state is not TaskState.RUNNING:
            self.starts(task_id)
        return self.when(CompleteTurn(turn_id=self.dispatch_id(task_id), text=text))

    def task_fails(self, task_id: str, error_type: str = "network", message: str = "boom") -> Self:
        """Taken and begun, if that was not said yet, and failed."""
        if self.run(task_id).state is not TaskState.RUNNING:
            self.starts(task_id)
        return self.when(FailTurn(turn_id=self.dispatch_id(task_id), error_type=error_type, message=message))

    def loses_lease(self, task_id: str) -> Self:
        return self.when(ExpireLease(dispatch_id=self.dispatch_id(task_id)))

    def waits(self) -> Self:
        """Every delay before a retry comes to its end."""
        waits = [run.wait for run in self.work.tasks.values()]
        waits += [episode.wait for episode in self.work.episodes.values()]
        return self.when(*(EndWait(number=wait.number) for wait in waits if wait))

    # what people do

    def answers(self, code: str, choice: str | None = None, **fields: Any) -> Self:
        """A human answers the open question with this code."""
        return self.when(Answer(step_id=self.step(code).step_id, choice=choice, **fields))

    def approves(self, **fields: Any) -> Self:
        return self.answers("confirm_plan", confirmed=True, **fields)

    def rejects(self, **fields: Any) -> Self:
        return self.answers("confirm_plan", confirmed=False, **fields)

    # what there is to see

    @property
    def work(self) -> Work:
        assert self.state.work is not None, "no work was begun"  # noqa: S101
        return self.state.work

    def run(self, task_id: str) -> TaskRun:
        return self.work.tasks[task_id]

    def state_of(self, task_id: str) -> TaskState:
        return self.run(task_id).state

    def dispatch_id(self, task_id: str) -> str:
        """Of the offer that is under way; one that is over where there is none."""
        return self.run(task_id).dispatch_id or "none"

    def turn(self, job: str, task_id: str = "") -> Turn:
        found = [each for each in self.state.running if each.job == job and task_id in ("", each.task_id)]
        assert found, f"no {job} turn is running; there are {[each.job for each in self.state.running]}"  # noqa: S101
        return found[0]

    def step(self, code: str) -> StepAsked:
        """The open question with this code; a question of an understander has none."""
        found = [each for each in self.state.open_steps.values() if each.code == code]
        assert found, f"no question {code!r} is open; there are {list(self.state.open_steps)}"  # noqa: S101
        return found[-1]

    @property
    def offered(self) -> list[str]:
        """Tasks that somebody was offered or has."""
        return list(self.work.dispatches.values())


def plan_given(team: Team | TeamFile) -> PlanScenario:
    return PlanScenario(team.team() if isinstance(team, TeamFile) else team)

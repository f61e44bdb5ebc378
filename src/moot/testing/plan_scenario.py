"""Given / when / then for the plan flow, with a method for each thing that planners, workers and people do.

plan_given(team).says("a report").understands("different_task").plans(task("a"), task("b", "a")).approves()
"""

from typing import Any, Self

from moot.config.team_file import TeamFile
from moot.core.flows.plan.plan_commands import EndWait
from moot.core.flows.plan.plan_slice import PlanSlice
from moot.core.flows.plan.plan_state import TaskRun, Work
from moot.core.intake.intent import IntentAnalysis, Relation
from moot.core.machines.task import TaskState
from moot.core.session.commands import (
    AckDispatch,
    Answer,
    CompleteTurn,
    ExpireLease,
    FailTurn,
    NackDispatch,
    ReportStep,
    ReportUnderstanding,
    StartTask,
)
from moot.core.session.events import StepAsked
from moot.core.session.state import Turn
from moot.core.session.team import Team
from moot.testing.intents import analyse
from moot.testing.scenario import Scenario


def task(task_id: str, *depends_on: str, **fields: Any) -> dict[str, Any]:
    """A task as a planner writes it."""
    return {"id": task_id, "title": f"Task {task_id}", "depends_on": list(depends_on), **fields}


class PlanScenario(Scenario):
    """A session of the plan flow. Tasks are named by their ids."""

    # Understander, planner, reviewer, aggregator

    def understands(self, relation: Relation | IntentAnalysis, confidence: float = 0.95, **fields: Any) -> Self:
        """The understander reports this analysis of the oldest input."""
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

    def evaluates(self, decision: str = "ask", reason: str = "") -> Self:
        """The planner says whether its plan still holds."""
        answer = {"decision": decision, "reason": reason}
        return self.when(CompleteTurn(turn_id=self.turn("evaluate").turn_id, text="", evaluation=answer))

    def reviews_plan(self, *, passes: bool, feedback: str = "") -> Self:
        verdict = {"pass": passes, "feedback": feedback}
        return self.when(CompleteTurn(turn_id=self.turn("review_plan").turn_id, text="", review=verdict))

    def reviews_answer(self, *, passes: bool, feedback: str = "") -> Self:
        verdict = {"pass": passes, "feedback": feedback}
        return self.when(CompleteTurn(turn_id=self.turn("review_answer").turn_id, text="", review=verdict))

    def aggregates(self, text: str = "the answer") -> Self:
        return self.when(CompleteTurn(turn_id=self.turn("aggregate").turn_id, text=text))

    def job_fails(self, job: str, error_type: str = "network", message: str = "boom", task_id: str = "") -> Self:
        """The turn of a planner, reviewer or aggregator fails."""
        turn_id = self.turn(job, task_id).turn_id
        return self.when(FailTurn(turn_id=turn_id, error_type=error_type, message=message))

    # Workers

    def acks(self, task_id: str) -> Self:
        return self.when(AckDispatch(dispatch_id=self.dispatch_id(task_id)))

    def nacks(self, task_id: str, reason: str = "busy") -> Self:
        return self.when(NackDispatch(dispatch_id=self.dispatch_id(task_id), reason=reason))

    def starts(self, task_id: str) -> Self:
        """A worker accepts the task, if it has not yet, and starts it."""
        if self.run(task_id).state is TaskState.DISPATCHING:
            self.acks(task_id)
        return self.when(StartTask(dispatch_id=self.dispatch_id(task_id)))

    def steps(self, task_id: str, thought: str = "thinking", total: int | None = None) -> Self:
        return self.when(ReportStep(turn_id=self.dispatch_id(task_id), thought=thought, total=total))

    def completes(self, task_id: str, text: str = "done") -> Self:
        """A worker completes the task, after accepting and starting it if necessary."""
        if self.run(task_id).state is not TaskState.RUNNING:
            self.starts(task_id)
        return self.when(CompleteTurn(turn_id=self.dispatch_id(task_id), text=text))

    def task_fails(self, task_id: str, error_type: str = "network", message: str = "boom") -> Self:
        """A worker fails the task, after accepting and starting it if necessary."""
        if self.run(task_id).state is not TaskState.RUNNING:
            self.starts(task_id)
        return self.when(FailTurn(turn_id=self.dispatch_id(task_id), error_type=error_type, message=message))

    def loses_lease(self, task_id: str) -> Self:
        return self.when(ExpireLease(dispatch_id=self.dispatch_id(task_id)))

    def waits(self) -> Self:
        """All delays before retries end."""
        waits = [run.wait for run in self.work.tasks.values()]
        waits += [episode.wait for episode in self.work.episodes.values()]
        return self.when(*(EndWait(number=wait.number) for wait in waits if wait))

    # People

    def answers(self, code: str, choice: str | None = None, **fields: Any) -> Self:
        """A human answers the open question with this code.

        If the planner is still asked whether its plan holds, it leaves the decision to people first.
        """
        if all(step.code != code for step in self.state.open_steps.values()) and any(
            turn.job == "evaluate" for turn in self.state.running
        ):
            self.evaluates("ask")
        return self.when(Answer(step_id=self.step(code).step_id, choice=choice, **fields))

    def approves(self, **fields: Any) -> Self:
        return self.answers("confirm_plan", confirmed=True, **fields)

    def rejects(self, **fields: Any) -> Self:
        return self.answers("confirm_plan", confirmed=False, **fields)

    # Queries

    @property
    def work(self) -> Work:
        return self.state.part(PlanSlice).current

    def run(self, task_id: str) -> TaskRun:
        return self.work.tasks[task_id]

    def state_of(self, task_id: str) -> TaskState:
        return self.run(task_id).state

    def dispatch_id(self, task_id: str) -> str:
        """The id of the current dispatch of a task; "none" if there is none."""
        return self.run(task_id).dispatch_id or "none"

    def turn(self, job: str, task_id: str = "") -> Turn:
        """The running turn of this job. Fails the test if there is none."""
        running = self.state.running
        turns = [turn for turn in running if turn.job == job and task_id in ("", turn.task_id)]
        assert turns, f"no {job} turn is running; there are {[turn.job for turn in running]}"  # noqa: S101
        return turns[0]

    def step(self, code: str) -> StepAsked:
        """The open question with this code; an understander's question has an empty one."""
        steps = [step for step in self.state.open_steps.values() if step.code == code]
        assert steps, f"no question {code!r} is open; there are {list(self.state.open_steps)}"  # noqa: S101
        return steps[-1]

    @property
    def offered(self) -> list[str]:
        """Tasks that are dispatched."""
        return list(self.work.dispatches.values())


def plan_given(team: Team | TeamFile) -> PlanScenario:
    """Start a session of the plan flow with this team."""
    return PlanScenario(team.team() if isinstance(team, TeamFile) else team)

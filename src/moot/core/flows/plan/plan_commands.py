"""The commands that only the plan flow knows."""

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from moot.core.session.commands import HumanCommand, TimerCommand


class SolveTasks(HumanCommand, frozen=True, kw_only=True):
    """Run these tasks without planning and without confirmation."""

    event: ClassVar[str] = "user.solve_tasks"
    tasks: tuple[Any, ...]
    question: Annotated[str, Meta(description="the goal that the tasks serve")] = ""


class CancelTask(HumanCommand, frozen=True, kw_only=True):
    """Cancel a task of the running plan."""

    event: ClassVar[str] = "user.cancel_task"
    task_id: str


class RestartTask(HumanCommand, frozen=True, kw_only=True):
    """Start a task of the running plan again."""

    event: ClassVar[str] = "user.restart_task"
    task_id: str
    member: Annotated[str | None, Meta(description="who takes the task over; the same member if absent")] = None


class CancelPlan(HumanCommand, frozen=True, kw_only=True):
    """End the running plan."""

    event: ClassVar[str] = "user.cancel_plan"


class Replan(HumanCommand, frozen=True, kw_only=True):
    """Plan again; finished tasks are kept where they still fit."""

    event: ClassVar[str] = "user.replan"
    feedback: Annotated[str, Meta(description="what the new plan should do differently")] = ""


PLAN_COMMANDS: tuple[type[HumanCommand], ...] = (SolveTasks, CancelTask, RestartTask, CancelPlan, Replan)


class EndWait(TimerCommand, frozen=True, kw_only=True):
    """The delay before a retry is over; `number` tells one delay from another."""

    number: int


class ProbeMember(TimerCommand, frozen=True, kw_only=True):
    """A member that did not take its offers may get another one."""

    member: str


class EndGrace(TimerCommand, frozen=True, kw_only=True):
    """The time for running tasks to finish before a pause is over."""

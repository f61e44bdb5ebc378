"""The codes of the plan flow's questions, and withdrawing questions that are settled."""

from moot.core.draft import Draft
from moot.core.session import steps

CONFIRM = "confirm_plan"
DROPPED = "task_dropped"
FAILURE_OPTIONS = ("retry", "skip", "reassign", "replan", "abort")
_ABOUT_WORK = ("task_failed", "review_failed", DROPPED, "job_failed", CONFIRM, "plan_refused")


def is_about_work(code: str) -> bool:
    """Whether a question is about the plan, a task or a failed turn, and not about an input."""
    return code in _ABOUT_WORK


def supersede_work(draft: Draft) -> None:
    """Withdraw the questions about the work, because it is over or planned again."""
    steps.supersede(draft, lambda step: is_about_work(step.code))


def supersede_task(draft: Draft, task_id: str) -> None:
    steps.supersede(draft, lambda step: step.task_id == task_id)

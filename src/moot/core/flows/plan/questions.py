"""The codes of the plan flow's questions, and withdrawing questions that are settled."""

from moot.core.draft import Draft
from moot.core.flows.plan.plan_state import Evaluation
from moot.core.session import steps
from moot.core.session.events import Input

CONFIRM = "confirm_plan"
DROPPED = "task_dropped"
REPLAN = "ask_replan"
FAILURE_OPTIONS = ("retry", "skip", "reassign", "replan", "abort")
CONFLICT = "merge_conflict"
CONFLICT_OPTIONS = ("retry", "tree", "ours", "theirs", "drop")
_ABOUT_WORK = (CONFLICT, "task_failed", "review_failed", DROPPED, "job_failed", CONFIRM, "plan_refused")


def ask_whether_to_replan(draft: Draft, input_: Input) -> None:
    choices = ("replan", "minor_replan", "continue", "finish_first", "close_and_start", "abort")
    steps.ask_about_input(draft, REPLAN, choices, input_)


def ask_about_failure(draft: Draft, failure: Evaluation, title: str) -> None:
    """Ask what to do about a task that failed for good. It can be given to another AI if the team has one."""
    is_alone = len(draft.team.ais) == 1
    steps.ask(
        draft,
        failure.code,
        tuple(option for option in FAILURE_OPTIONS if option != "reassign" or not is_alone),
        task_id=failure.task_id,
        error_type=failure.error_type,
        who=title,
        detail=failure.detail,
    )


def ask_about_conflict(draft: Draft, task_id: str, title: str, files: tuple[str, ...]) -> None:
    """Ask what to do about files in which a task and others contradict each other."""
    steps.ask(draft, CONFLICT, CONFLICT_OPTIONS, task_id=task_id, who=title, names=files, error_type="conflict")


def is_about_work(code: str) -> bool:
    """Whether a question is about the plan, a task or a failed turn, and not about an input."""
    return code in _ABOUT_WORK


def supersede_work(draft: Draft) -> None:
    """Withdraw the questions about the work, because it is over or planned again."""
    steps.supersede(draft, lambda step: is_about_work(step.code))


def supersede_task(draft: Draft, task_id: str) -> None:
    steps.supersede(draft, lambda step: step.task_id == task_id)

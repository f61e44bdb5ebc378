"""The input of a turn or task in the plan flow."""

from msgspec import Struct

from moot.core.flows.plan.jobs import REVIEWS
from moot.core.flows.plan.plan_state import Episode, Evaluation, TaskRun, Work
from moot.core.flows.plan.tasks import Task
from moot.core.session.state import Turn
from moot.core.session.team import Language
from moot.core.texts import render


class TaskReport(Struct, frozen=True, kw_only=True, gc=False):
    """How far a task of the plan is."""

    task: Task
    state: str
    result: str = ""


class Assignment(Struct, frozen=True, kw_only=True, gc=False):
    """A job in a plan. The job decides which fields are set: the task, the results it builds on, earlier problems."""

    question: str
    task: Task | None = None
    tasks: tuple[TaskReport, ...] = ()
    feedback: str = ""
    problems: tuple[str, ...] = ()
    attempt: int = 1
    before: str = ""  # the answer of the finished work that this work may continue
    answer: str = ""  # to be reviewed
    trouble: str = ""  # what makes the plan doubtful


def assign_task(work: Work, run: TaskRun) -> Assignment:
    """Return the assignment of an executor: its task and the results it depends on."""
    return Assignment(
        question=work.question,
        task=run.task,
        tasks=tuple([_report(work.tasks[needed]) for needed in run.task.depends_on]),
        feedback=run.feedback,
        attempt=run.attempt,
        before=work.before,
    )


def _last_failure(turn: Turn, episode: Episode | None, language: Language) -> tuple[str, ...]:
    """Return why this turn failed before. A reviewer that gave no verdict gets the format of one."""
    if episode is None:
        return ()
    is_silent = turn.job in REVIEWS and episode.error_type == "validation" and not episode.message
    return (render("no_verdict", language),) if is_silent else (episode.message,)


def assign_job(work: Work, turn: Turn, language: Language) -> Assignment:
    """Return the assignment of a planner, a reviewer or an aggregator."""
    run = work.tasks.get(turn.task_id)
    episode = work.episodes.get(turn.episode)
    shown = {"plan": work.discussed, "review_plan": work.proposed}.get(turn.job, ())
    if run is None or turn.job == "evaluate":
        tasks = (*map(_report, work.tasks.values()), *(TaskReport(task=task, state="PROPOSED") for task in shown))
    else:  # a result, and after it what it builds on
        tasks = (_report(run), *(_report(work.tasks[needed]) for needed in run.task.depends_on))
    return Assignment(
        question=work.question,
        task=run.task if run else None,
        tasks=tasks,
        feedback=work.answer_feedback if turn.job == "aggregate" else work.feedback,
        problems=work.problems or _last_failure(turn, episode, language),
        attempt=run.attempt if run else 1,
        before=work.before,
        answer=work.answer if turn.job == "review_answer" else "",
        trouble=_describe_trouble(work.evaluation) if turn.job == "evaluate" else "",
    )


def _describe_trouble(evaluation: Evaluation | None) -> str:
    """Return what a planner has to weigh: what a person said, or why a task failed."""
    if evaluation is None:
        return ""
    return evaluation.input.text if evaluation.input else f"{evaluation.error_type}: {evaluation.detail}".strip(": ")


def _report(run: TaskRun) -> TaskReport:
    return TaskReport(task=run.task, state="SKIPPED" if run.is_skipped else run.state, result=run.result)

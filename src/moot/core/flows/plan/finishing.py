"""How work ends: reviewed, aggregated, cancelled, or given up."""

from typing import Any

from moot.core import limits, text
from moot.core.draft import Draft
from moot.core.flows.plan import questions, recovery, staffing, workflow
from moot.core.flows.plan.jobs import start_job, work_of
from moot.core.flows.plan.plan_events import (
    AggregateCompleted,
    AggregateStarted,
    CancelReason,
    FinalAnswered,
    Interrupted,
    PipelineCompleted,
    PlanCancelled,
    SolverCancelled,
    TaskReviewed,
)
from moot.core.flows.plan.plan_state import TaskRun, Work
from moot.core.flows.plan.runs import find_freed
from moot.core.json_text import find_object
from moot.core.machines import task
from moot.core.machines.task import TaskState
from moot.core.machines.workflow import Trigger, WorkflowState
from moot.core.session import steps
from moot.core.session.commands import CompleteTurn
from moot.core.session.state import Turn


def read_verdict(command: CompleteTurn) -> dict[str, Any] | None:
    """`{"pass": …, "feedback": …}` as the reviewer returned it, or found in what it wrote."""
    verdict = command.review or find_object(command.text, "pass")
    return verdict if verdict is not None and isinstance(verdict.get("pass"), bool) else None


def receive_review(draft: Draft, turn: Turn, verdict: dict[str, Any]) -> None:
    """Pass, or rework with the feedback; after the last rework the human decides."""
    run, passed = work_of(draft).tasks[turn.task_id], bool(verdict["pass"])
    feedback = text.cut(text.clean(str(verdict.get("feedback") or "")), limits.DETAIL_CHARS)
    again = not passed and run.rework < draft.team.plan.max_rework
    state = task.review(run.state, passed=passed, is_reworked=again)
    draft.add(
        TaskReviewed(
            task_id=turn.task_id,
            passed=passed,
            feedback=feedback,
            member=turn.member,
            turn_id=turn.turn_id,
            state=state,
            ready=find_freed(work_of(draft), run, state),
            is_reworked=again,
        )
    )
    if not passed and not again:
        recovery.reject(draft, work_of(draft).tasks[turn.task_id], feedback)


def request_reviews(draft: Draft) -> None:
    """What was done is looked at, at once or when a pause is over."""
    reviewer = staffing.reviewer(draft.team)
    if reviewer is None:
        return
    for task_id, run in work_of(draft).tasks.items():
        if run.state is TaskState.EXECUTION_SUCCEEDED:
            start_job(draft, reviewer, "review", task_id)


def aggregate(draft: Draft) -> None:
    """When every task is over and nobody is asked about one, the results become one answer."""
    work = work_of(draft)
    if work.dispatches or work.status is not WorkflowState.EXECUTION or draft.state.running:
        return
    if any(questions.is_about_work(step.code) for step in draft.state.open_steps.values()) or work.episodes:
        return
    if all(run.is_over for run in work.tasks.values()):
        member = staffing.aggregator(draft.team)
        draft.add(AggregateStarted(member=member.id))
        start_job(draft, member, "aggregate")


def reopen(draft: Draft) -> None:
    """Cancel a running aggregation: new work makes its answer incomplete."""
    for turn in draft.state.running:
        if turn.job == "aggregate":
            draft.cancel_turn(turn, "superseded")
    steps.supersede(draft, lambda step: step.job == "aggregate")


def receive_answer(draft: Draft, turn: Turn, command: CompleteTurn) -> None:
    work = work_of(draft)
    said = text.cut(text.clean(command.text))
    if text.is_blank(said):
        said = text.cut(_join_results(work))
    is_whole = all(run.state is TaskState.DONE for run in work.tasks.values())
    draft.add(AggregateCompleted(text=said, member=turn.member))
    draft.add(PipelineCompleted(status="complete" if is_whole else "partial"))
    draft.add(FinalAnswered(text=said, member=turn.member))
    workflow.move(draft, Trigger.ALL_DONE_AND_REVIEW_PASSED)


def _join_results(work: Work) -> str:
    """The answer when the aggregator has nothing to say: what was done is not lost."""
    return "\n\n".join(f"{run.task.title}: {run.result}" for run in work.tasks.values() if run.result)


def cancel_task(draft: Draft, run: TaskRun, reason: str) -> None:
    draft.add(SolverCancelled(task=run.task.document, reason=reason, state=task.cancel(run.state)))


def stop_tasks(draft: Draft, reason: str) -> None:
    """What is under way is stopped; what has not begun simply does not begin."""
    work = work_of(draft)
    for task_id in work.dispatches.values():
        cancel_task(draft, work.tasks[task_id], reason)
    draft.cancel_turns(reason)


def interrupt(draft: Draft, reason: str) -> None:
    """A human stops the work."""
    stop_tasks(draft, reason)
    questions.supersede_work(draft)
    draft.add(Interrupted(reason=reason))
    workflow.move(draft, Trigger.USER_ABORT, reason="user_abort")


def cancel_plan(draft: Draft, reason: CancelReason) -> None:
    stop_tasks(draft, reason)
    questions.supersede_work(draft)
    draft.add(PlanCancelled(reason=reason))
    workflow.move(draft, Trigger.USER_ABORT, reason=reason)

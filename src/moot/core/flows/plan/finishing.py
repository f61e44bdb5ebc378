"""How work ends: reviewed, aggregated, cancelled, or given up."""

from typing import Literal

from moot.core import limits, text
from moot.core.draft import Draft
from moot.core.flows.plan import integration, questions, recovery, staffing, workflow
from moot.core.flows.plan.jobs import start_job, start_review, work_of
from moot.core.flows.plan.plan_events import (
    AggregateCompleted,
    AggregateReviewed,
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
from moot.core.flows.plan.verdicts import Verdict
from moot.core.machines import task
from moot.core.machines.task import TaskState
from moot.core.machines.workflow import Trigger, WorkflowState
from moot.core.session import steps, taking
from moot.core.session.commands import CompleteTurn
from moot.core.session.state import Turn

_SUCCEEDED = TaskState.EXECUTION_SUCCEEDED  # a global is faster to look up than a member of an enum
ENDING = ("aggregate", "review_answer")  # the jobs that make the answer


def receive_review(draft: Draft, turn: Turn, verdict: Verdict) -> None:
    """Finish a task that passed, or have it done again with the feedback; after the last time a human decides."""
    run, passed, feedback = work_of(draft).tasks[turn.task_id], verdict.passed, verdict.feedback
    again = not passed and run.rework < draft.team.plan.max_rework
    state = find_reviewed_state(run, passed=passed, is_reworked=again)
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
    if passed and run.tree:
        integration.enqueue(draft, turn.task_id)
    if not passed and not again:
        recovery.reject(draft, work_of(draft).tasks[turn.task_id], feedback)


def find_reviewed_state(run: TaskRun, *, passed: bool, is_reworked: bool = False) -> TaskState:
    """Where a task stands after its review. One with a tree of its own is done only when it is merged."""
    return run.state if passed and run.tree else task.review(run.state, passed=passed, is_reworked=is_reworked)


def request_reviews(draft: Draft) -> None:
    """Start the reviews of results that wait for one, at once or when a pause is over.

    Work in a tree of its own is reviewed when it has passed its checks; without a reviewer it is merged then.
    """
    for run in [run for run in work_of(draft).tasks.values() if run.state is _SUCCEEDED]:
        if run.gate not in ("", "checked"):
            continue
        if not start_review(draft, "review", run.member, run.task.id) and run.gate:
            integration.enqueue(draft, run.task.id)


def aggregate(draft: Draft) -> None:
    """Start the aggregation if every task is over and no question about a task is open."""
    work = work_of(draft)
    if work.dispatches or work.status is not WorkflowState.EXECUTION or draft.state.running:
        return
    if any(questions.is_about_work(step.code) for step in draft.state.open_steps.values()) or work.episodes:
        return
    if all(run.is_over for run in work.tasks.values()):
        _start_aggregation(draft)


def _start_aggregation(draft: Draft, number: int = 1) -> None:
    member = staffing.aggregator(draft.team)
    draft.add(AggregateStarted(member=member.id, n=number))
    start_job(draft, member, "aggregate")


def reopen(draft: Draft) -> None:
    """Cancel a running aggregation or its review: new work makes the answer incomplete."""
    for turn in draft.state.running:
        if turn.job in ENDING:
            draft.cancel_turn(turn, "superseded")
    steps.supersede(draft, lambda step: step.job in ENDING)


def receive_answer(draft: Draft, turn: Turn, command: CompleteTurn) -> None:
    """Give the answer, after its review if the team wants one."""
    answer = text.cut(text.clean(command.text))
    if text.is_blank(answer):
        answer = text.cut(_join_results(work_of(draft)))
    draft.add(AggregateCompleted(text=answer, member=turn.member))
    if not draft.team.plan.final_review or not start_review(draft, "review_answer", turn.member):
        conclude(draft, answer)


def receive_answer_review(draft: Draft, turn: Turn, verdict: Verdict) -> None:
    """Give an answer that passed, or have it written once more. One that is rejected again is given as partial."""
    count = work_of(draft).answer_reviews + 1
    again = not verdict.passed and count < limits.ANSWER_TRIES
    draft.add(
        AggregateReviewed(
            passed=verdict.passed,
            feedback=verdict.feedback,
            n=count,
            member=turn.member,
            turn_id=turn.turn_id,
            is_reworked=again,
        )
    )
    if again:
        _start_aggregation(draft, count + 1)
    else:
        conclude(draft, work_of(draft).answer, is_rejected=not verdict.passed)


def conclude(draft: Draft, answer: str, *, is_rejected: bool = False) -> None:
    """End the work with an answer. It is partial if a task is missing or the reviewer rejected the answer."""
    missing = tuple(run.task.title for run in work_of(draft).tasks.values() if run.state is not TaskState.DONE)
    status: Literal["complete", "partial"] = "partial" if missing or is_rejected else "complete"
    draft.add(PipelineCompleted(status=status, missing=missing, is_rejected=is_rejected))
    draft.add(FinalAnswered(text=answer, member=staffing.aggregator(draft.team).id))
    workflow.move(draft, Trigger.ALL_DONE_AND_REVIEW_PASSED)
    taking.ask_to_take(draft)


def _join_results(work: Work) -> str:
    """Return the results of the tasks as one text, for an aggregator that returned an empty answer."""
    return "\n\n".join(f"{run.task.title}: {run.result}" for run in work.tasks.values() if run.result)


def cancel_task(draft: Draft, run: TaskRun, reason: str) -> None:
    draft.add(SolverCancelled(task=run.task.document, reason=reason, state=task.cancel(run.state)))


def stop_tasks(draft: Draft, reason: str) -> None:
    """Cancel the tasks and turns that run. Tasks that have not begun need no event."""
    work = work_of(draft)
    for task_id in work.dispatches.values():
        cancel_task(draft, work.tasks[task_id], reason)
    draft.cancel_turns(reason)


def interrupt(draft: Draft, reason: str) -> None:
    """Stop the work, because a human asks for it."""
    stop_tasks(draft, reason)
    questions.supersede_work(draft)
    draft.add(Interrupted(reason=reason))
    workflow.move(draft, Trigger.USER_ABORT, reason="user_abort")


def give_up(draft: Draft, reason: str) -> None:
    """End the work after a failure that cannot be recovered."""
    if work_of(draft).status is not WorkflowState.EXECUTION:  # a human was asked, and aborts
        interrupt(draft, reason)
        return
    stop_tasks(draft, reason)
    questions.supersede_work(draft)
    workflow.move(draft, Trigger.UNRECOVERABLE_FAILURE, reason=reason)
    draft.add(Interrupted(reason=reason))


def cancel_plan(draft: Draft, reason: CancelReason) -> None:
    stop_tasks(draft, reason)
    questions.supersede_work(draft)
    draft.add(PlanCancelled(reason=reason))
    workflow.move(draft, Trigger.USER_ABORT, reason=reason)

"""Failures of tasks: they are retried with growing delays, then a human decides.

An episode begins with the first failure and ends when a retry succeeds, or when there are none left.
"""

from moot.core import limits, text
from moot.core.backoff import Backoff
from moot.core.draft import Draft
from moot.core.flows.plan import evaluation, questions, workflow
from moot.core.flows.plan.jobs import REVIEWS, work_of
from moot.core.flows.plan.plan_events import (
    DispatchNacked,
    ExecutionFailed,
    MemberUnavailable,
    RecoveryFailed,
    RecoveryStarted,
    TaskBlocked,
    TaskFailed,
)
from moot.core.flows.plan.plan_state import Evaluation, TaskRun
from moot.core.instants import later
from moot.core.machines import task
from moot.core.machines.task import TaskState
from moot.core.machines.workflow import Trigger, WorkflowState
from moot.core.session import steps
from moot.core.session.commands import FailTurn
from moot.core.session.events import TurnFailed
from moot.core.session.settings import Retry
from moot.core.session.state import Turn
from moot.core.session.usage import NO_USAGE, Usage, safe_usage

TERMINAL = ("auth", "refused", "budget", "config", "blocked")  # trying again would end the same
_JOB_OPTIONS = {**dict.fromkeys(REVIEWS, ("retry", "skip", "abort")), "patch": ("retry", "continue", "abort")}


def delay_s(retry: Retry, attempt: int, chance: float, *, at_once: bool = False, retry_after_s: float = 0.0) -> float:
    """Return how long to wait before retry number `attempt`.

    The first retry waits exactly the base delay, or not at all with `at_once`; later ones double it. Half of
    such a delay is fixed and half is chance, so that no retry comes at once and not all of them come together.
    A provider's own `retry_after_s` counts if it is longer. Nothing exceeds the cap of the team's settings.
    """
    if attempt == 1:
        delay = 0.0 if at_once else retry.base_delay_s
    else:
        delay = Backoff(retry.base_delay_s).delay(attempt, 0.5 + chance / 2)
    return round(min(max(delay, retry_after_s), retry.cap_s), 3)


def fail_task(
    draft: Draft,
    run: TaskRun,
    error_type: str,
    message: str,
    retry_after_s: float = 0.0,
    usage: Usage = NO_USAGE,
) -> None:
    """A task failed after it had started."""
    error_type, message = _safe(error_type, message)
    draft.add(
        TaskFailed(
            task_id=run.task.id,
            dispatch_id=run.dispatch_id or "",
            member=run.member,
            attempt=run.attempt,
            error_type=error_type,
            message=message,
            state=task.fail(run.state),
            usage=safe_usage(usage),
        )
    )
    if not _try_again(draft, run.task.id, "", run.retries, error_type, message, retry_after_s):
        _block(draft, run, "task_failed", error_type, message)


def fail_job(draft: Draft, turn: Turn, failure: FailTurn) -> None:
    """A planner's, reviewer's or aggregator's turn failed."""
    error_type, message = _safe(failure.error_type, failure.message)
    usage, retry_after_s = safe_usage(failure.usage), failure.retry_after_s
    before = work_of(draft).episodes.get(turn.episode)
    draft.add(TurnFailed(turn_id=turn.turn_id, member=turn.member, error_type=error_type, message=message, usage=usage))
    retries = before.retries if before else 0
    if _try_again(draft, turn.task_id or None, turn.episode, retries, error_type, message, retry_after_s):
        return
    if turn.job == "evaluate":
        evaluation.ask(draft)
    else:
        options = _JOB_OPTIONS.get(turn.job, ("retry", "abort"))
        who = draft.team.member(turn.member).display_name
        steps.ask(
            draft,
            "job_failed",
            options,
            job=turn.job,
            task_id=turn.task_id or None,
            error_type=error_type,
            who=who,
            detail=message,
        )


def _safe(error_type: str, message: str) -> tuple[str, str]:
    return text.clean(error_type)[:80] or "agent", text.cut(text.clean(message), limits.DETAIL_CHARS)


def _try_again(
    draft: Draft, task_id: str | None, job: str, retries: int, error_type: str, message: str, retry_after_s: float
) -> bool:
    """Log the failure and, if there is any hope, the retry; False when there is none."""
    retry = draft.team.plan.retry
    recoverable = error_type not in TERMINAL
    if retries == 0:
        draft.add(
            ExecutionFailed(
                task_id=task_id,
                error_type=error_type,
                recoverable=recoverable,
                suggested_action="retry" if recoverable else "decide",
                message=message,
                job=job,
            )
        )
    if not recoverable or retries >= retry.max_attempts:
        draft.add(RecoveryFailed(task_id=task_id, attempt=retries, error_type=error_type, message=message, job=job))
        return False
    attempt = retries + 1
    wait_s = delay_s(retry, attempt, draft.chance, at_once=error_type == "validation", retry_after_s=retry_after_s)
    draft.add(
        RecoveryStarted(
            task_id=task_id,
            recovery_strategy="retry",
            attempt=attempt,
            max_attempts=retry.max_attempts,
            state=None if job or task_id is None or wait_s else task.retry(work_of(draft).tasks[task_id].state),
            delay_s=wait_s,
            job=job,
            retry_at=_instant(draft, wait_s),
        )
    )
    return True


def nack(draft: Draft, run: TaskRun, reason: str) -> None:
    """A task was not taken, or not started in time: counted on the member, offered again later, perhaps elsewhere."""
    retry, slots = draft.team.plan.retry, work_of(draft).slots[run.member]
    attempt = run.dispatch_failures + 1
    has_hope = attempt <= retry.max_attempts
    reason = text.clean(reason)[: limits.DETAIL_CHARS] or "refused"
    wait_s = delay_s(retry, attempt, draft.chance) if has_hope else None
    draft.add(
        DispatchNacked(
            task_id=run.task.id,
            agent_id=run.agent_id,
            dispatch_id=run.dispatch_id or "",
            member=run.member,
            reason=reason,
            state=task.refuse(run.state, reason, is_offered_again=wait_s == 0),
            retry_in_s=wait_s,
            retry_at=_instant(draft, wait_s or 0.0),
        )
    )
    if slots.failures + 1 >= limits.BREAKER_FAILURES:
        probe_s = max(retry.base_delay_s, 0.1)
        draft.add(
            MemberUnavailable(
                member=run.member,
                failures=slots.failures + 1,
                retry_in_s=probe_s,
                retry_at=_instant(draft, probe_s),
            )
        )
    if not has_hope:
        _block(draft, run, "task_failed", "dispatch", reason)


def _instant(draft: Draft, wait_s: float) -> str:
    """When a wait that begins now is over; empty when there is nothing to wait for."""
    return later(draft.at, wait_s) if draft.at and wait_s else ""


def reject(draft: Draft, run: TaskRun, feedback: str) -> None:
    """The reviewer sent it back once too often."""
    _block(draft, run, "review_failed", "review", feedback)


def _block(draft: Draft, run: TaskRun, code: str, error_type: str, detail: str) -> None:
    """Give up on a task. If others depend on it, the planner is asked whether the plan still holds; else a human is."""
    failed = work_of(draft).tasks[run.task.id]
    is_missing = failed.state is TaskState.DISPATCH_FAILED and failed.message == "no_resource"
    state = task.block(failed.state, is_resource_missing=is_missing)
    draft.add(TaskBlocked(task_id=run.task.id, reason=error_type, state=state))
    work = work_of(draft)
    failure = Evaluation(task_id=run.task.id, code=code, error_type=error_type, detail=detail)
    is_needed = any(run.task.id in each.task.depends_on and not each.is_over for each in work.tasks.values())
    if work.status is not WorkflowState.EXECUTION or not (is_needed or code == "review_failed"):
        questions.ask_about_failure(draft, failure, run.task.title)
        return
    reasons = {"review": "review_reject", "dispatch": "resource_missing"}
    workflow.move(draft, Trigger.MAJOR_FAILURE, reason=reasons.get(error_type, "major_failure"))
    if is_needed:
        evaluation.start(draft, failure)
    else:
        workflow.move(draft, Trigger.USER_DECISION_REQUIRED)
        questions.ask_about_failure(draft, failure, run.task.title)

"""Failures of tasks: they are retried with growing delays, then a human decides.

An episode begins with the first failure and ends when a retry succeeds, or when there are none left.
"""

from moot.core import limits, text
from moot.core.backoff import Backoff
from moot.core.draft import Draft
from moot.core.flows.plan import evaluation, questions, workflow
from moot.core.flows.plan.jobs import REVIEWS, find_author, start_job, work_of
from moot.core.flows.plan.plan_events import (
    DispatchNacked,
    ExecutionFailed,
    MemberUnavailable,
    RecoveryFailed,
    RecoveryStarted,
    TaskBlocked,
    TaskFailed,
)
from moot.core.flows.plan.plan_settings import Retry
from moot.core.flows.plan.plan_state import Evaluation, TaskRun
from moot.core.flows.plan.tasks import is_only_reviewer
from moot.core.instants import later
from moot.core.machines import task
from moot.core.machines.task import TaskState
from moot.core.machines.workflow import Trigger, WorkflowState
from moot.core.session import parking, steps
from moot.core.session.commands import FailTurn
from moot.core.session.events import TurnFailed
from moot.core.session.state import Turn
from moot.core.session.team import Member
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
    """Log that a task failed after it had started, and retry it or give it up."""
    error_type, message = _safe(error_type, message)
    _log_failure(draft, run, error_type, message, usage)
    if not _try_again(draft, run.task.id, "", run.retries, error_type, message, retry_after_s):
        _block(draft, run, "task_failed", error_type, message)


def _log_failure(draft: Draft, run: TaskRun, error_type: str, message: str, usage: Usage) -> None:
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


def fall_back_from_task(draft: Draft, run: TaskRun, failure: FailTurn) -> bool:
    """Give a task whose member has reached its usage limit to the next fallback. Returns False if none is left."""
    reviewers = [member.id for member in draft.team.ais if is_only_reviewer(member, draft.team)]
    other = parking.find_fallback(draft.state, run.member, run.stands_in_for, reviewers)
    if other is None:
        return False
    error_type, message = _safe(failure.error_type, failure.message)
    _log_failure(draft, run, error_type, message, failure.usage)
    stands_in_for = run.stands_in_for or run.member
    _start_fallback(draft, run.task.id, "", run.retries, error_type, message, other, stands_in_for)
    parking.say_who_acts_instead(draft, run.member, other)
    return True


def fall_back_from_job(draft: Draft, turn: Turn, failure: FailTurn) -> bool:
    """Give a job to the next fallback of its member, never a review to its author. Returns False if none is left."""
    work = work_of(draft)
    author = find_author(draft, turn.job, turn.task_id)
    other = parking.find_fallback(draft.state, turn.member, turn.stands_in_for, (author,))
    if other is None:
        return False
    before, stands_in_for = work.episodes.get(turn.episode), turn.stands_in_for or turn.member
    draft.fail_turn(turn, failure)
    _start_fallback(
        draft,
        turn.task_id or None,
        turn.episode,
        before.retries if before else 0,
        *_safe(failure.error_type, failure.message),
        other,
        stands_in_for,
    )
    parking.say_who_acts_instead(draft, turn.member, other)
    start_job(draft, other, turn.job, turn.task_id, retry_of=turn.turn_id, stands_in_for=stands_in_for)
    return True


def _start_fallback(
    draft: Draft,
    task_id: str | None,
    job: str,
    retries: int,
    error_type: str,
    message: str,
    other: Member,
    stands_in_for: str,
) -> None:
    """Log the failure, if it is the first of its episode, and that a fallback tries again at once."""
    if retries == 0:
        _log_execution_failure(draft, task_id, job, error_type, message, "fallback")
    attempt = retries + 1
    draft.add(
        RecoveryStarted(
            task_id=task_id,
            recovery_strategy="fallback",
            attempt=attempt,
            max_attempts=max(attempt, draft.team.plan.retry.max_attempts),
            state=None if job or task_id is None else task.retry(work_of(draft).tasks[task_id].state),
            job=job,
            member=other.id,
            stands_in_for=stands_in_for,
        )
    )


def _log_execution_failure(
    draft: Draft, task_id: str | None, job: str, error_type: str, message: str, suggested_action: str
) -> None:
    draft.add(
        ExecutionFailed(
            task_id=task_id,
            error_type=error_type,
            recoverable=suggested_action != "decide",
            suggested_action=suggested_action,
            message=message,
            job=job,
        )
    )


def fail_job(draft: Draft, turn: Turn, failure: FailTurn) -> None:
    """Log that a planner's, reviewer's or aggregator's turn failed, and retry it or ask a human."""
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
    """Log the failure, and the retry if one is allowed. Returns whether there is a retry."""
    retry = draft.team.plan.retry
    recoverable = error_type not in TERMINAL
    if retries == 0:
        _log_execution_failure(draft, task_id, job, error_type, message, "retry" if recoverable else "decide")
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
    """Log that a member did not take a task or start it in time. It is offered again later, perhaps to another."""
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
    """Return when a delay that begins now is over; empty for no delay."""
    return later(draft.at, wait_s) if draft.at and wait_s else ""


def reject(draft: Draft, run: TaskRun, feedback: str) -> None:
    """Give up on a task that the reviewer has rejected too often."""
    _block(draft, run, "review_failed", "review", feedback)


def give_up(draft: Draft, run: TaskRun, code: str, error_type: str, detail: str) -> None:
    """Give up on a task whose tree did not pass its checks or merge, when no rework is left."""
    _block(draft, run, code, error_type, detail)


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

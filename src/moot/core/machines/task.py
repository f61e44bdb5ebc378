"""One task of a plan, from its dependencies to its review.

Failing before the start is DISPATCH_FAILED, failing after it is EXECUTION_FAILED: only the second is a failure of the
task itself. Extensions: a lease that ends gives the task back, retries may be used up, a team without a reviewer skips
the review, a patch may add a dependency, and everything unfinished can be cancelled. BLOCKED, CANCELLED and DONE are
ends; restarting a task begins a new walk.
"""

from enum import StrEnum

from moot.core.fsm import machine


class TaskState(StrEnum):
    CREATED = "CREATED"
    READY = "READY"
    DISPATCHING = "DISPATCHING"
    DISPATCH_FAILED = "DISPATCH_FAILED"
    DISPATCHED = "DISPATCHED"
    RUNNING = "RUNNING"
    EXECUTION_FAILED = "EXECUTION_FAILED"
    EXECUTION_SUCCEEDED = "EXECUTION_SUCCEEDED"
    REVIEWING = "REVIEWING"
    REWORK_REQUIRED = "REWORK_REQUIRED"
    DONE = "DONE"
    BLOCKED = "BLOCKED"
    CANCELLED = "CANCELLED"


class Trigger(StrEnum):
    DEPS_SATISFIED = "deps_satisfied"
    ORCHESTRATOR_DISPATCH = "orchestrator_dispatch"
    DISPATCH_NACK = "dispatch_nack"
    TIMEOUT = "timeout"
    NO_RESOURCE = "no_resource"
    DISPATCH_ACK = "dispatch_ack"
    TASK_EXECUTION_STARTED = "task_execution_started"
    TASK_PROGRESS = "task_progress"
    TASK_EXECUTION_FAILURE = "task_execution_result:failure"
    TASK_EXECUTION_SUCCESS = "task_execution_result:success"
    REVIEW_REQUESTED = "review_requested"
    REVIEW_PASS = "review_pass"  # noqa: S105 - a trigger, not a password
    REVIEW_REJECT = "review_reject"
    REPLAN_OR_RETRY = "replan_or_retry"
    UNRECOVERABLE_RESOURCE_MISSING = "unrecoverable_resource_missing"
    RECOVERABLE_RETRY = "recoverable_retry"
    RETRY_OR_REASSIGN = "retry_or_reassign"
    LEASE_EXPIRED = "lease_expired"
    START_TIMEOUT = "start_timeout"
    RETRIES_EXHAUSTED = "retries_exhausted"
    REVIEW_OFF = "review_off"
    CANCELLED = "cancelled"
    DEPS_ADDED = "deps_added"


S, T = TaskState, Trigger

_UNFINISHED = [state for state in S if state not in {S.DONE, S.BLOCKED, S.CANCELLED}]

TASK = machine(
    "task",
    initial=S.CREATED,
    final=[S.DONE, S.BLOCKED, S.CANCELLED],
    rows=[
        (S.CREATED, T.DEPS_SATISFIED, S.READY),
        (S.READY, T.ORCHESTRATOR_DISPATCH, S.DISPATCHING),
        (S.DISPATCHING, T.DISPATCH_NACK, S.DISPATCH_FAILED),
        (S.DISPATCHING, T.TIMEOUT, S.DISPATCH_FAILED),
        (S.DISPATCHING, T.NO_RESOURCE, S.DISPATCH_FAILED),
        (S.DISPATCHING, T.DISPATCH_ACK, S.DISPATCHED),
        (S.DISPATCHED, T.TASK_EXECUTION_STARTED, S.RUNNING),
        (S.RUNNING, T.TASK_PROGRESS, S.RUNNING),
        (S.RUNNING, T.TASK_EXECUTION_FAILURE, S.EXECUTION_FAILED),
        (S.RUNNING, T.TASK_EXECUTION_SUCCESS, S.EXECUTION_SUCCEEDED),
        (S.EXECUTION_SUCCEEDED, T.REVIEW_REQUESTED, S.REVIEWING),
        (S.REVIEWING, T.REVIEW_PASS, S.DONE),
        (S.REVIEWING, T.REVIEW_REJECT, S.REWORK_REQUIRED),
        (S.REWORK_REQUIRED, T.REPLAN_OR_RETRY, S.READY),
        (S.DISPATCH_FAILED, T.UNRECOVERABLE_RESOURCE_MISSING, S.BLOCKED),
        (S.DISPATCH_FAILED, T.RECOVERABLE_RETRY, S.READY),
        (S.EXECUTION_FAILED, T.RETRY_OR_REASSIGN, S.READY),
    ],
    extensions=[
        (S.DISPATCHED, T.LEASE_EXPIRED, S.READY),
        (S.RUNNING, T.LEASE_EXPIRED, S.READY),
        (S.DISPATCHED, T.START_TIMEOUT, S.DISPATCH_FAILED),
        (S.DISPATCH_FAILED, T.RETRIES_EXHAUSTED, S.BLOCKED),
        (S.EXECUTION_FAILED, T.RETRIES_EXHAUSTED, S.BLOCKED),
        (S.REWORK_REQUIRED, T.RETRIES_EXHAUSTED, S.BLOCKED),
        (S.EXECUTION_SUCCEEDED, T.REVIEW_OFF, S.DONE),
        (S.READY, T.DEPS_ADDED, S.CREATED),
        *((state, T.CANCELLED, S.CANCELLED) for state in _UNFINISHED),
    ],
)

_REFUSALS = {"timeout": T.TIMEOUT, "no_resource": T.NO_RESOURCE}


def make_ready(state: TaskState) -> TaskState:
    """Everything that the task depends on is finished."""
    return TASK.advance(state, T.DEPS_SATISFIED)


def add_dependency(state: TaskState) -> TaskState:
    """A patch gave the task something to wait for."""
    return TASK.advance(state, T.DEPS_ADDED)


def offer(state: TaskState) -> TaskState:
    return TASK.advance(state, T.ORCHESTRATOR_DISPATCH)


def take(state: TaskState) -> TaskState:
    return TASK.advance(state, T.DISPATCH_ACK)


def refuse(state: TaskState, reason: str, *, is_offered_again: bool) -> TaskState:
    """Nobody took the task, or nobody started it; `is_offered_again`: without a delay."""
    trigger = T.START_TIMEOUT if state is S.DISPATCHED else _REFUSALS.get(reason, T.DISPATCH_NACK)
    refused = TASK.advance(state, trigger)
    return retry(refused) if is_offered_again else refused


def start(state: TaskState) -> TaskState:
    return TASK.advance(state, T.TASK_EXECUTION_STARTED)


def step(state: TaskState) -> TaskState:
    return TASK.advance(state, T.TASK_PROGRESS)


def succeed(state: TaskState, *, awaits_review: bool) -> TaskState:
    done = TASK.advance(state, T.TASK_EXECUTION_SUCCESS)
    return done if awaits_review else TASK.advance(done, T.REVIEW_OFF)


def fail(state: TaskState) -> TaskState:
    return TASK.advance(state, T.TASK_EXECUTION_FAILURE)


def lose_lease(state: TaskState) -> TaskState:
    """The worker is gone."""
    return TASK.advance(state, T.LEASE_EXPIRED)


def retry(state: TaskState) -> TaskState:
    """The task is tried again, now or after its delay."""
    return TASK.advance(state, T.RECOVERABLE_RETRY if state is S.DISPATCH_FAILED else T.RETRY_OR_REASSIGN)


def request_review(state: TaskState) -> TaskState:
    return TASK.advance(state, T.REVIEW_REQUESTED)


def review(state: TaskState, *, passed: bool, is_reworked: bool) -> TaskState:
    if passed:
        return TASK.advance(state, T.REVIEW_PASS)
    rejected = TASK.advance(state, T.REVIEW_REJECT)
    return TASK.advance(rejected, T.REPLAN_OR_RETRY) if is_reworked else rejected


def merge(state: TaskState) -> TaskState:
    """The work of the task, in a tree of its own, became part of the whole."""
    return TASK.advance(state, T.REVIEW_PASS if state is S.REVIEWING else T.REVIEW_OFF)


def send_back(state: TaskState, *, is_reworked: bool) -> TaskState:
    """The checks failed, or the work contradicts that of others: that is a review, too."""
    reviewed = state if state is S.REVIEWING else TASK.advance(state, T.REVIEW_REQUESTED)
    rejected = TASK.advance(reviewed, T.REVIEW_REJECT)
    return TASK.advance(rejected, T.REPLAN_OR_RETRY) if is_reworked else rejected


def block(state: TaskState, *, is_resource_missing: bool) -> TaskState:
    """No retry is left, or nobody can do it."""
    return TASK.advance(state, T.UNRECOVERABLE_RESOURCE_MISSING if is_resource_missing else T.RETRIES_EXHAUSTED)


def cancel(state: TaskState) -> TaskState:
    """Cancel the task. BLOCKED is an end: then a new walk begins, and ends at once."""
    return TASK.advance(TASK.initial if state is S.BLOCKED else state, T.CANCELLED)

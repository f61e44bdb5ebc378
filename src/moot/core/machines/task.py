"""One task of a plan, from its dependencies to its review (seed 002 §5).

Failing before the start is DISPATCH_FAILED, failing after it is EXECUTION_FAILED (seed 002 §10.2).
"""

from enum import StrEnum

from moot.core.fsm import machine


class State(StrEnum):
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


S, T = State, Trigger

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
        *((state, T.CANCELLED, S.CANCELLED) for state in _UNFINISHED),
    ],
)

"""The facts of the plan flow (plan: frames). Where seed 004 has a name for a fact, that is its name."""

from typing import Any, ClassVar, Literal

from msgspec import Struct, field

from moot.core.intent import PlanPatch
from moot.core.machines import workflow
from moot.core.usage import NO_USAGE, Usage

Json = dict[str, Any]  # a task as it was written
CancelReason = Literal["user_reject", "user_cancel", "timeout", "invalid_plan", "failed"]


class PlanStarted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Planning begins; again with `feedback` when the planner is to do better, with `snapshot_id` on a replan."""

    event: ClassVar[str] = "plan.start"
    question: str
    plan_id: str = ""
    feedback: str = ""
    snapshot_id: str | None = None
    member: str | None = None


class PlanStepped(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One for each step of the planner; `step` is the text, the three at the end say what it was."""

    event: ClassVar[str] = "plan.step_completed"
    step: str
    n: int
    member: str | None = None
    turn_id: str = ""
    thought: str | None = None
    action: str | None = None
    observation: str | None = None


class PlanRefused(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What the planner returned cannot be run."""

    event: ClassVar[str] = "workflow.plan_refused"
    problems: tuple[str, ...]
    n: int


class PlanCompleted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`kept`: tasks that an earlier plan finished and that need not run again."""

    event: ClassVar[str] = "plan.completed"
    tasks: tuple[Json, ...]
    plan_summary: str
    plan_id: str = ""
    plan_hash: str = ""
    kept: tuple[str, ...] = ()
    member: str | None = None


class PlanApproved(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """These tasks run and no others."""

    event: ClassVar[str] = "workflow.plan_approved"
    tasks: tuple[Json, ...]
    plan_hash: str
    plan_id: str = ""
    by: str | None = None
    kept: tuple[str, ...] = ()


class PlanCancelled(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Nothing of the plan runs any more."""

    event: ClassVar[str] = "plan.cancelled"
    reason: CancelReason


class WorkflowChanged(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The workflow machine moved."""

    event: ClassVar[str] = "workflow.changed"
    state: workflow.State = field(name="to")
    trigger: str
    was: workflow.State | None = field(name="from", default=None)
    reason: str | None = None
    question: str | None = None  # what it is about, when a workflow begins
    asked_by: str | None = None
    is_deferred: bool = False  # the first of those that were put off


class ChangeRequested(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A small change that the planner is to turn into patches."""

    event: ClassVar[str] = "workflow.change_requested"
    text: str
    member: str


class SnapshotSaved(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """How far the work is: a checkpoint for a pause, the basis of a replan. The results stand in the log already."""

    event: ClassVar[str] = "workflow.snapshot_saved"
    snapshot_id: str
    done: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    running: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    reason: str = ""


class PlanPatched(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A plan that runs was changed a little: how, and what it is now."""

    event: ClassVar[str] = "workflow.patched"
    patches: tuple[PlanPatch, ...]
    tasks: tuple[Json, ...]  # as they are now


class InputDeferred(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Another goal, kept for when the current work is over."""

    event: ClassVar[str] = "workflow.deferred"
    text: str
    member: str


class DispatchRequested(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`index` and `task_index`: how many turns the member had before, in all and for this task."""

    event: ClassVar[str] = "task.dispatch_requested"
    task_id: str
    agent_id: str
    dispatch_id: str
    member: str
    attempt: int
    index: int = 0
    task_index: int = 0
    is_again: bool = False  # the lease of the one before was lost: it is the same attempt


class DispatchAcked(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`place`: where it stood, when it was taken, in the line of all sessions' tasks that wait for room to run."""

    event: ClassVar[str] = "task.dispatch_acked"
    task_id: str
    agent_id: str
    dispatch_id: str
    member: str
    place: int | None = None


class DispatchNacked(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`retry_in_s` is None when the task is not offered again."""

    event: ClassVar[str] = "task.dispatch_nacked"
    task_id: str
    agent_id: str
    dispatch_id: str
    member: str
    reason: str
    retry_in_s: float | None = None


class SolverStarted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    event: ClassVar[str] = "solver.start"
    task: Json
    member: str
    attempt: int
    dispatch_id: str


class SolverProgressed(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One for each step; `step` is the text, the three others say what it was."""

    event: ClassVar[str] = "solver.progress"
    task_id: str
    done: int
    total: int | None
    percent: float | None
    step: str
    member: str = ""
    dispatch_id: str = ""
    thought: str | None = None
    action: str | None = None
    observation: str | None = None


class SolverCompleted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    event: ClassVar[str] = "solver.completed"
    task: Json
    result: str
    member: str = ""
    dispatch_id: str = ""
    awaits_review: bool = False
    usage: Usage = Usage()


class SolverCancelled(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The task is stopped, or is never begun."""

    event: ClassVar[str] = "solver.cancelled"
    task: Json
    reason: str = "user_cancel"


class SolverRestarted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The task starts from the beginning, with a fresh count of attempts; `member` when it was given to another."""

    event: ClassVar[str] = "solver.restarted"
    task: Json
    reason: str = "user_restart"
    member: str | None = None


class TaskFailed(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    event: ClassVar[str] = "task.failed"
    task_id: str
    dispatch_id: str
    member: str
    attempt: int
    error_type: str
    message: str
    usage: Usage = NO_USAGE


class LeaseExpired(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The worker of a task is gone; the task is offered again."""

    event: ClassVar[str] = "task.lease_expired"
    task_id: str
    dispatch_id: str
    member: str
    reason: str


class TaskReviewed(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Accepted, or sent back with feedback."""

    event: ClassVar[str] = "task.reviewed"
    task_id: str
    passed: bool = field(name="pass")
    feedback: str = ""
    member: str = ""
    turn_id: str = ""
    is_reworked: bool = False  # rejected: it runs again with the feedback


class TaskBlocked(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Nobody can do the task, or no retry is left."""

    event: ClassVar[str] = "task.blocked"
    task_id: str
    reason: str


class TaskSkipped(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A human goes on without it: those who depend on it run without its result."""

    event: ClassVar[str] = "task.skipped"
    task_id: str
    by: str | None = None


class ExecutionFailed(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Once per failure episode. `task_id` is None for a planner's or an aggregator's turn (`job`)."""

    event: ClassVar[str] = "error.execution"
    task_id: str | None
    error_type: str
    recoverable: bool
    suggested_action: str
    message: str = ""
    job: str = ""


class RecoveryStarted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A retry, and when."""

    event: ClassVar[str] = "error.recovery_started"
    task_id: str | None
    recovery_strategy: str
    attempt: int
    max_attempts: int
    delay_s: float = 0.0
    job: str = ""


class RecoverySucceeded(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    event: ClassVar[str] = "error.recovery_success"
    task_id: str | None
    attempt: int
    job: str = ""


class RecoveryFailed(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """No retry is left: people are asked."""

    event: ClassVar[str] = "error.recovery_failed"
    task_id: str | None
    attempt: int
    error_type: str
    message: str = ""
    job: str = ""


class AggregateStarted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    event: ClassVar[str] = "aggregate.start"
    member: str | None = None


class AggregateCompleted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    event: ClassVar[str] = "aggregate.completed"
    text: str
    member: str | None = None


class PipelineCompleted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The work is over, with all of its tasks or with some."""

    event: ClassVar[str] = "pipeline.completed"
    status: Literal["complete", "partial"]


class FinalAnswered(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The answer, as a message of the conversation."""

    event: ClassVar[str] = "agent.final_answer"
    text: str
    member: str


class Interrupted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """All work was stopped."""

    event: ClassVar[str] = "agent.interrupted"
    reason: str


class MemberUnavailable(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The breaker is open: it did not take `failures` dispatches in a row."""

    event: ClassVar[str] = "member.unavailable"
    member: str
    failures: int
    retry_in_s: float


class MemberProbed(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The delay is over: the next offer is the probe."""

    event: ClassVar[str] = "member.probed"
    member: str


class WaitEnded(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The delay before a retry is over."""

    event: ClassVar[str] = "task.retry_due"
    task_id: str


PlanFact = (
    PlanStarted
    | PlanStepped
    | PlanRefused
    | PlanCompleted
    | PlanApproved
    | PlanCancelled
    | WorkflowChanged
    | ChangeRequested
    | SnapshotSaved
    | PlanPatched
    | InputDeferred
    | DispatchRequested
    | DispatchAcked
    | DispatchNacked
    | SolverStarted
    | SolverProgressed
    | SolverCompleted
    | SolverCancelled
    | SolverRestarted
    | TaskFailed
    | LeaseExpired
    | TaskReviewed
    | TaskBlocked
    | TaskSkipped
    | ExecutionFailed
    | RecoveryStarted
    | RecoverySucceeded
    | RecoveryFailed
    | AggregateStarted
    | AggregateCompleted
    | PipelineCompleted
    | FinalAnswered
    | Interrupted
    | MemberUnavailable
    | MemberProbed
    | WaitEnded
)

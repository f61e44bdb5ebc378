"""The facts of the plan flow (docs/events.md). Their names are part of the protocol."""

from typing import ClassVar, Literal

from msgspec import field

from moot.core.facts import Fact, Json
from moot.core.intake.intent import PlanPatch
from moot.core.machines import workflow
from moot.core.machines.task import TaskState
from moot.core.session.events import Input
from moot.core.session.tool_use import ToolUse
from moot.core.session.usage import NO_USAGE, Usage

Decision = Literal["replan", "continue", "ask", "abort"]
CancelReason = Literal["user_reject", "user_cancel", "timeout", "invalid_plan", "failed"]

BROUGHT_BACK = "brought_back"  # why work begins whose plan nobody confirmed in time


class PlanStarted(Fact, frozen=True, kw_only=True):
    """Planning begins; again with `feedback` when the planner is to do better, with `snapshot_id` on a replan.

    Without a `member` nobody plans: the plan that nobody confirmed in time is shown again.
    """

    event: ClassVar[str] = "plan.start"
    author: ClassVar[str] = "member"
    question: str
    plan_id: str = ""
    feedback: str = ""
    snapshot_id: str | None = None
    member: str | None = None


class PlanStepped(Fact, frozen=True, kw_only=True):
    """One for each step of the planner; `step` is the text, the three at the end say what it was."""

    event: ClassVar[str] = "plan.step_completed"
    author: ClassVar[str] = "member"
    step: str
    n: int
    member: str | None = None
    turn_id: str = ""
    thought: str | None = None
    action: str | None = None
    observation: str | None = None
    tool: ToolUse | None = None
    diff: str | None = None  # of the files that the tool changed, unified


class PlanRefused(Fact, frozen=True, kw_only=True):
    """What the planner returned cannot be run."""

    event: ClassVar[str] = "workflow.plan_refused"
    problems: tuple[str, ...]
    n: int


class PlanCompleted(Fact, frozen=True, kw_only=True):
    """`kept`: tasks that an earlier plan finished and that need not run again."""

    event: ClassVar[str] = "plan.completed"
    author: ClassVar[str] = "member"
    tasks: tuple[Json, ...]
    plan_summary: str
    plan_id: str = ""
    plan_hash: str = ""
    kept: tuple[str, ...] = ()
    member: str | None = None

    def frame_content(self) -> Json | None:
        """Clients of the first protocol look for the tasks here."""
        return {"tasks": self.tasks, "plan_summary": self.plan_summary}


class PlanReviewed(Fact, frozen=True, kw_only=True):
    """The reviewer looked at a plan before people are asked about it. `n` counts the reviews since planning began."""

    event: ClassVar[str] = "plan.reviewed"
    author: ClassVar[str] = "member"
    passed: bool = field(name="pass")
    feedback: str
    n: int
    plan_id: str = ""
    member: str = ""
    turn_id: str = ""
    is_reworked: bool = False  # rejected: the planner makes another one with the feedback


class PlanApproved(Fact, frozen=True, kw_only=True):
    """These tasks run and no others."""

    event: ClassVar[str] = "workflow.plan_approved"
    tasks: tuple[Json, ...]
    plan_hash: str
    plan_id: str = ""
    by: str | None = None
    kept: tuple[str, ...] = ()
    ready: tuple[str, ...] = ()  # those that may start at once


class PlanCancelled(Fact, frozen=True, kw_only=True):
    """Nothing of the plan runs any more."""

    event: ClassVar[str] = "plan.cancelled"
    reason: CancelReason


class WorkflowChanged(Fact, frozen=True, kw_only=True):
    """The workflow machine moved."""

    event: ClassVar[str] = "workflow.changed"
    timeline: ClassVar[str] = "phase_transition"
    state: workflow.WorkflowState = field(name="to")
    trigger: str
    was: workflow.WorkflowState | None = field(name="from", default=None)
    reason: str | None = None
    question: str | None = None  # what it is about, when a workflow begins
    asked_by: str | None = None
    is_deferred: bool = False  # the first of those that were put off
    follows: bool = False  # it continues the work before it, which is complete
    asks_back: bool = False  # it answers a question about that work


class EvaluationStarted(Fact, frozen=True, kw_only=True):
    """The planner is asked whether the plan still holds, after a failure (`task_id`) or a large change (`input`)."""

    event: ClassVar[str] = "workflow.evaluation_started"
    author: ClassVar[str] = "member"
    member: str
    task_id: str | None = None
    input: Input | None = None
    code: str = ""  # of the question that people are asked if the planner leaves the decision to them
    error_type: str = ""
    detail: str = ""


class PlanEvaluated(Fact, frozen=True, kw_only=True):
    """What the planner thinks of its plan: plan again, go on without the task or the change, ask people, or give up."""

    event: ClassVar[str] = "workflow.evaluated"
    author: ClassVar[str] = "member"
    decision: Decision
    reason: str
    member: str
    task_id: str | None = None


class GoalChanged(Fact, frozen=True, kw_only=True):
    """A large change gave the work another goal; the plan that follows is for the new one."""

    event: ClassVar[str] = "workflow.goal_changed"
    author: ClassVar[str] = "member"
    question: str
    was: str
    member: str


class ChangeRequested(Fact, frozen=True, kw_only=True):
    """A small change that the planner is to turn into patches."""

    event: ClassVar[str] = "workflow.change_requested"
    author: ClassVar[str] = "member"
    text: str
    member: str


class SnapshotSaved(Fact, frozen=True, kw_only=True):
    """How far the work is: a checkpoint for a pause, the basis of a replan. The results stand in the log already."""

    event: ClassVar[str] = "workflow.snapshot_saved"
    snapshot_id: str
    done: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    running: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    reason: str = ""


class PlanPatched(Fact, frozen=True, kw_only=True):
    """A plan that runs was changed a little: how, and what it is now."""

    event: ClassVar[str] = "workflow.patched"
    patches: tuple[PlanPatch, ...]
    tasks: tuple[Json, ...]  # as they are now
    ready: tuple[str, ...] = ()  # of those that have not begun, all that may start


class DispatchRequested(Fact, frozen=True, kw_only=True):
    """`index` and `task_index`: how many turns the member had before, in all and for this task."""

    event: ClassVar[str] = "task.dispatch_requested"
    timeline: ClassVar[str] = "task_dispatch_requested"
    task_id: str
    agent_id: str
    dispatch_id: str
    member: str
    attempt: int
    state: TaskState = field(name="to")  # of the task, after this
    index: int = 0
    task_index: int = 0
    is_again: bool = False  # the lease of the one before was lost: it is the same attempt
    place: str = ""  # of the member in the system: `moot-executor.executor`
    tree: str = ""  # in which it works, if it has one of its own
    offered_at: str = ""  # this and the next: where trees are recorded, for the commits
    seq: int = 0  # of this event


class DispatchAcked(Fact, frozen=True, kw_only=True):
    """`place`: where it stood, when it was taken, in the line of all sessions' tasks that wait for room to run."""

    event: ClassVar[str] = "task.dispatch_acked"
    timeline: ClassVar[str] = "task_dispatch_ack"
    author: ClassVar[str] = "member"
    task_id: str
    agent_id: str
    dispatch_id: str
    member: str
    state: TaskState = field(name="to")  # of the task, after this
    place: int | None = None


class DispatchNacked(Fact, frozen=True, kw_only=True):
    """`retry_in_s` is None when the task is not offered again."""

    event: ClassVar[str] = "task.dispatch_nacked"
    timeline: ClassVar[str] = "task_dispatch_nack"
    author: ClassVar[str] = "member"
    task_id: str
    agent_id: str
    dispatch_id: str
    member: str
    reason: str
    state: TaskState = field(name="to")  # of the task, after this
    retry_in_s: float | None = None
    retry_at: str = ""  # when it is offered again; empty when it is not, or at once


class SolverStarted(Fact, frozen=True, kw_only=True):
    event: ClassVar[str] = "solver.start"
    timeline: ClassVar[str] = "task_execution_started"
    author: ClassVar[str] = "member"
    task: Json
    member: str
    attempt: int
    dispatch_id: str
    state: TaskState = field(name="to")  # of the task, after this
    started_at: str = ""


class SolverProgressed(Fact, frozen=True, kw_only=True):
    """One for each step; `step` is the text, the three others say what it was."""

    event: ClassVar[str] = "solver.progress"
    timeline: ClassVar[str] = "agent_step_completed"
    author: ClassVar[str] = "member"
    task_id: str
    done: int
    total: int | None
    percent: float | None
    step: str
    state: TaskState = field(name="to")  # of the task, after this
    member: str = ""
    dispatch_id: str = ""
    thought: str | None = None
    action: str | None = None
    observation: str | None = None
    tool: ToolUse | None = None
    diff: str | None = None  # of the files that the tool changed, unified


class SolverCompleted(Fact, frozen=True, kw_only=True):
    event: ClassVar[str] = "solver.completed"
    timeline: ClassVar[str] = "task_execution_result"
    author: ClassVar[str] = "member"
    task: Json
    result: str
    state: TaskState = field(name="to")  # of the task, after this
    member: str = ""
    dispatch_id: str = ""
    awaits_review: bool = False
    ready: tuple[str, ...] = ()  # other tasks that may start because of it
    usage: Usage = Usage()
    # what its work has to pass, if it has a tree of its own: check, or checked if there is nothing to run
    gate: str = ""


class SolverCancelled(Fact, frozen=True, kw_only=True):
    """The task is stopped, or is never begun."""

    event: ClassVar[str] = "solver.cancelled"
    task: Json
    state: TaskState = field(name="to")  # of the task, after this
    reason: str = "user_cancel"


class SolverRestarted(Fact, frozen=True, kw_only=True):
    """The task starts from the beginning, with a fresh count of attempts; `member` when it was given to another."""

    event: ClassVar[str] = "solver.restarted"
    task: Json
    state: TaskState = field(name="to")  # of the task, after this
    reason: str = "user_restart"
    ready: tuple[str, ...] = ()  # other tasks that may start because of it
    member: str | None = None


class TaskFailed(Fact, frozen=True, kw_only=True):
    event: ClassVar[str] = "task.failed"
    timeline: ClassVar[str] = "task_execution_result"
    author: ClassVar[str] = "member"
    task_id: str
    dispatch_id: str
    member: str
    attempt: int
    error_type: str
    message: str
    state: TaskState = field(name="to")  # of the task, after this
    usage: Usage = NO_USAGE


class LeaseExpired(Fact, frozen=True, kw_only=True):
    """The worker of a task is gone; the task is offered again."""

    event: ClassVar[str] = "task.lease_expired"
    task_id: str
    dispatch_id: str
    member: str
    reason: str
    state: TaskState = field(name="to")  # of the task, after this


class TaskReviewed(Fact, frozen=True, kw_only=True):
    """Accepted, or sent back with feedback."""

    event: ClassVar[str] = "task.reviewed"
    timeline: ClassVar[str] = "task_review_result"
    author: ClassVar[str] = "member"
    task_id: str
    passed: bool = field(name="pass")
    state: TaskState = field(name="to")  # of the task, after this
    feedback: str = ""
    member: str = ""
    turn_id: str = ""
    ready: tuple[str, ...] = ()  # other tasks that may start because of it
    is_reworked: bool = False  # rejected: it runs again with the feedback


class TasksTakeTurns(Fact, frozen=True, kw_only=True):
    """Tasks that may edit the same folder run one at a time, unless their `files` differ. Told once in a plan."""

    event: ClassVar[str] = "task.takes_turns"
    task_id: str
    waits_for: str


class TaskSentBack(Fact, frozen=True, kw_only=True):
    """The work of a task did not pass: its checks failed, or it contradicts the work of others."""

    event: ClassVar[str] = "task.sent_back"
    task_id: str
    reason: str  # checks, conflict, workspace
    feedback: str
    state: TaskState = field(name="to")  # of the task, after this
    member: str = ""
    is_reworked: bool = False  # it runs again with the feedback


class TaskBlocked(Fact, frozen=True, kw_only=True):
    """Nobody can do the task, or no retry is left."""

    event: ClassVar[str] = "task.blocked"
    task_id: str
    reason: str
    state: TaskState = field(name="to")  # of the task, after this


class TaskSkipped(Fact, frozen=True, kw_only=True):
    """A human goes on without it: those who depend on it run without its result."""

    event: ClassVar[str] = "task.skipped"
    task_id: str
    ready: tuple[str, ...] = ()  # other tasks that may start because of it
    by: str | None = None


class ExecutionFailed(Fact, frozen=True, kw_only=True):
    """Once per failure episode. `task_id` is None for a planner's or an aggregator's turn (`job`)."""

    event: ClassVar[str] = "error.execution"
    task_id: str | None
    error_type: str
    recoverable: bool
    suggested_action: str
    message: str = ""
    job: str = ""


class RecoveryStarted(Fact, frozen=True, kw_only=True):
    """A retry, and when; with `recovery_strategy` "fallback" by another member, whose usage limit is not reached."""

    event: ClassVar[str] = "error.recovery_started"
    task_id: str | None
    recovery_strategy: str
    attempt: int
    max_attempts: int
    state: TaskState | None = field(name="to", default=None)  # of the task, if it is tried again at once
    delay_s: float = 0.0
    job: str = ""
    retry_at: str = ""  # when the next attempt begins; empty when it begins at once
    member: str = ""  # who acts instead
    stands_in_for: str = ""  # of whom


class RecoverySucceeded(Fact, frozen=True, kw_only=True):
    event: ClassVar[str] = "error.recovery_success"
    task_id: str | None
    attempt: int
    job: str = ""


class RecoveryFailed(Fact, frozen=True, kw_only=True):
    """No retry is left: people are asked."""

    event: ClassVar[str] = "error.recovery_failed"
    task_id: str | None
    attempt: int
    error_type: str
    message: str = ""
    job: str = ""


class AggregateStarted(Fact, frozen=True, kw_only=True):
    """The results become one answer. `n` is 2 when the reviewer sent the first answer back."""

    event: ClassVar[str] = "aggregate.start"
    author: ClassVar[str] = "member"
    member: str | None = None
    n: int = 1


class AggregateCompleted(Fact, frozen=True, kw_only=True):
    event: ClassVar[str] = "aggregate.completed"
    author: ClassVar[str] = "member"
    text: str
    member: str | None = None


class AggregateReviewed(Fact, frozen=True, kw_only=True):
    """The reviewer looked at the answer. `n` counts the reviews of answers from the same results."""

    event: ClassVar[str] = "aggregate.reviewed"
    author: ClassVar[str] = "member"
    passed: bool = field(name="pass")
    feedback: str
    n: int
    member: str = ""
    turn_id: str = ""
    is_reworked: bool = False  # rejected: the aggregator writes another one with the feedback


class PipelineCompleted(Fact, frozen=True, kw_only=True):
    """The work is over, with all of its tasks or with some."""

    event: ClassVar[str] = "pipeline.completed"
    status: Literal["complete", "partial"]
    missing: tuple[str, ...] = ()  # the titles of tasks that were skipped or cancelled
    is_rejected: bool = False  # the reviewer rejected the answer to the last


class FinalAnswered(Fact, frozen=True, kw_only=True):
    """The answer, as a message of the conversation."""

    event: ClassVar[str] = "agent.final_answer"
    author: ClassVar[str] = "member"
    content: ClassVar[str] = "text"
    text: str
    member: str


class Interrupted(Fact, frozen=True, kw_only=True):
    """All work was stopped."""

    event: ClassVar[str] = "agent.interrupted"
    reason: str


class MemberUnavailable(Fact, frozen=True, kw_only=True):
    """The breaker is open: it did not take `failures` dispatches in a row."""

    event: ClassVar[str] = "member.unavailable"
    member: str
    failures: int
    retry_in_s: float
    retry_at: str = ""  # when the next offer, the probe, is made


class MemberProbed(Fact, frozen=True, kw_only=True):
    """The delay is over: the next offer is the probe."""

    event: ClassVar[str] = "member.probed"
    member: str


class WaitEnded(Fact, frozen=True, kw_only=True):
    """The delay before a retry is over."""

    event: ClassVar[str] = "task.retry_due"
    task_id: str
    state: TaskState = field(name="to")  # of the task, after this


PLAN_FACTS: tuple[type[Fact], ...] = (
    PlanStarted,
    PlanStepped,
    PlanRefused,
    PlanCompleted,
    PlanReviewed,
    PlanApproved,
    PlanCancelled,
    WorkflowChanged,
    EvaluationStarted,
    PlanEvaluated,
    GoalChanged,
    ChangeRequested,
    SnapshotSaved,
    PlanPatched,
    DispatchRequested,
    DispatchAcked,
    DispatchNacked,
    SolverStarted,
    SolverProgressed,
    SolverCompleted,
    SolverCancelled,
    SolverRestarted,
    TaskFailed,
    LeaseExpired,
    TaskReviewed,
    TasksTakeTurns,
    TaskSentBack,
    TaskBlocked,
    TaskSkipped,
    ExecutionFailed,
    RecoveryStarted,
    RecoverySucceeded,
    RecoveryFailed,
    AggregateStarted,
    AggregateCompleted,
    AggregateReviewed,
    PipelineCompleted,
    FinalAnswered,
    Interrupted,
    MemberUnavailable,
    MemberProbed,
    WaitEnded,
)

"""The state of a piece of work: its plan, its tasks, and the members who run them."""

from msgspec import Struct

from moot.core.flows.plan.tasks import Task
from moot.core.machines import agent, workflow
from moot.core.machines.task import TaskState
from moot.core.session.events import Input
from moot.core.session.tool_use import ToolUse

ACTIVE = (
    workflow.WorkflowState.PLAN_LOOP,
    workflow.WorkflowState.EXECUTION,
    workflow.WorkflowState.REPLAN_EVALUATION,
    workflow.WorkflowState.WAIT_USER_DECISION,
)


UNSTARTED = (TaskState.CREATED, TaskState.READY, TaskState.DISPATCHING, TaskState.DISPATCHED)


class Wait(Struct, frozen=True, gc=False):
    """A delay before a retry. `number` identifies it."""

    number: int
    delay_s: float
    until: str = ""


class TaskRun(Struct, frozen=True, kw_only=True, gc=False):
    """A task and its progress. `dispatch_id`, `agent_id` and `member` are set while a member has it."""

    task: Task
    state: TaskState = TaskState.CREATED
    attempt: int = 1  # of its execution
    retries: int = 0  # in this failure episode
    dispatch_failures: int = 0
    leases_lost: int = 0
    rework: int = 0
    dispatch_id: str | None = None
    agent_id: str = ""
    member: str = ""
    index: int = 0
    task_index: int = 0
    earlier: dict[str, int] = {}  # task id → the member's turns before this one
    is_lease_lost: bool = False  # the same attempt is to be offered again
    refused_by: tuple[str, ...] = ()
    given_to: str = ""  # the member to whom a human reassigned it, or a fallback
    stands_in_for: str = ""  # the member whose usage limit is reached, if a fallback has it
    done_steps: int = 0
    total: int | None = None  # steps, as its worker counts them
    percent: float | None = None
    step: str = ""  # the last one, as text
    tool: ToolUse | None = None  # the last one that its worker used
    started_at: str = ""
    place: int | None = None  # in the queue of tasks, when it was taken
    max_attempts: int = 0
    wait: Wait | None = None
    feedback: str = ""
    result: str = ""
    error_type: str = ""
    message: str = ""
    is_skipped: bool = False
    tree: str = ""  # in which it works, if it has one of its own
    gate: str = ""  # what its work has to pass: check, checked, merge, conflict
    queued: int = 0  # the number of its last merge
    queued_at: str = ""
    side: str = ""  # that a person chose in a conflict
    side_files: tuple[str, ...] = ()
    turn_id: str = ""  # of its last dispatch that finished
    offered_at: str = ""  # this and the next: of its last dispatch, for the commits
    seq: int = 0

    @property
    def is_finished(self) -> bool:
        """Whether it is done or was skipped."""
        return self.state is TaskState.DONE or self.is_skipped

    @property
    def is_over(self) -> bool:
        return self.is_finished or self.state is TaskState.CANCELLED

    @property
    def is_untried(self) -> bool:
        """Whether no member has started it, or failed to start it."""
        is_new = self.attempt == 1 and not (self.dispatch_failures or self.leases_lost or self.is_lease_lost)
        return is_new and self.state in UNSTARTED

    @property
    def is_under_way(self) -> bool:
        return self.dispatch_id is not None


class Slots(Struct, frozen=True, kw_only=True, gc=False):
    """A member's slots (`worker#1`), each with its own machine, and its breaker."""

    states: dict[str, agent.State] = {}
    failures: int = 0  # dispatches in a row that it did not take
    is_open: bool = False  # the breaker: nothing is offered
    may_probe: bool = False
    probes: int = 0
    delay_s: float = 0.0
    retry_at: str = ""


class Episode(Struct, frozen=True, kw_only=True, gc=False):
    """Consecutive failures of a turn of the planner, a reviewer or the aggregator."""

    job: str
    task_id: str
    retries: int = 0
    max_attempts: int = 0
    wait: Wait | None = None
    error_type: str = ""
    message: str = ""


class Evaluation(Struct, frozen=True, kw_only=True, gc=False):
    """What the planner weighs: a task that failed, or an input that changes the plan; and how people would be asked."""

    task_id: str | None = None
    input: Input | None = None
    code: str = ""
    error_type: str = ""
    detail: str = ""


class Counts(Struct, frozen=True, kw_only=True, gc=False):
    """Counters for ids that are unique in the session, kept from one piece of work to the next."""

    plans: int = 0
    dispatches: int = 0
    snapshots: int = 0
    waits: int = 0
    merges: int = 0


class Work(Struct, frozen=True, kw_only=True, gc=False):
    """One piece of work from its plan to its end."""

    question: str
    asked_by: str
    before: str = ""  # the answer of the work before it in this session, if that is complete
    asks_back: bool = False  # it answers a question about that work
    status: workflow.WorkflowState = workflow.WorkflowState.PLAN_LOOP
    trigger: str = ""  # of the last phase transition
    replan_reason: str | None = None
    evaluation: Evaluation | None = None  # in REPLAN_EVALUATION
    replans: int = 0  # that the planner decided since a human last approved a plan
    decision_required: bool = False
    decision_options: tuple[str, ...] = ()
    latest_execution_snapshot_id: str = ""
    plan_id: str = ""
    summary: str = ""
    proposed: tuple[Task, ...] = ()
    kept: tuple[str, ...] = ()  # of the proposed, finished already
    discussed: tuple[Task, ...] = ()  # proposed before; the feedback is about them
    plan_steps: int = 0
    plan_step: str = ""  # the last one, as text
    refusals: int = 0  # of plans and patches that could not be run, one after the other
    plan_reviews: int = 0  # since planning began
    problems: tuple[str, ...] = ()
    feedback: str = ""
    tasks: dict[str, TaskRun] = {}
    dispatches: dict[str, str] = {}  # under way: dispatch id → task id
    slots: dict[str, Slots] = {}  # by member
    episodes: dict[str, Episode] = {}  # by job
    counts: Counts = Counts()
    is_aggregating: bool = False
    is_told_to_wait: bool = False  # people know that tasks take turns
    answer_reviews: int = 0  # of answers from the same results
    answer_feedback: str = ""  # why the last one was rejected
    outcome: str = ""  # complete, partial, or why it ended
    answer: str = ""

    @property
    def is_active(self) -> bool:
        return self.status in ACTIVE

    @property
    def is_approved(self) -> bool:
        return bool(self.tasks)

    @property
    def is_planning(self) -> bool:
        """Whether a plan is being made or waits for its confirmation."""
        return self.status is workflow.WorkflowState.PLAN_LOOP or bool(self.proposed)

    def needs_probe(self, member: str) -> bool:
        """Whether a probe is due: the member's breaker is open, and no offer to it waits for an answer."""
        slots = self.slots.get(member)
        if slots is None or not slots.is_open or slots.may_probe:
            return False
        runs = [self.tasks[task_id] for task_id in self.dispatches.values()]
        return not any(run.member == member and run.state is TaskState.DISPATCHING for run in runs)

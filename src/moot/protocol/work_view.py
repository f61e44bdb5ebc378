"""What a screen shows of work under way: the plan, the task board, and how what was said last was understood."""

from typing import Any

from msgspec import Struct

from moot.core.machines.task import TASK
from moot.core.machines.task import State as TaskState
from moot.core.machines.workflow import WORKFLOW

RESULT_CHARS, STEP_CHARS = 20_000, 2_000  # of what is shown; the log keeps the rest
Document = dict[str, Any]  # a task as it was written


class TaskRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task on the board. `done` only grows within one start: what sets it back counts `starts` up."""

    task: Document
    state: str = TASK.initial
    member: str = ""
    agent_id: str = ""  # the member's slot that has it
    attempt: int = 1
    starts: int = 0
    retries: int = 0  # since it last succeeded
    max_attempts: int = 0
    retry_in_s: float | None = None  # counted from `retry_from`; None = no retry waits
    retry_from: str = ""
    done: int = 0
    total: int | None = None
    percent: float | None = None
    step: str = ""
    result: str = ""
    error_type: str = ""
    message: str = ""
    feedback: str = ""  # the reviewer's
    is_skipped: bool = False
    place: int | None = None  # in the line for room to run, when it was taken

    @property
    def id(self) -> str:
        return str(self.task["id"])

    @property
    def title(self) -> str:
        return str(self.task["title"])

    @property
    def is_finished(self) -> bool:
        """Done, or a human goes on without it."""
        return self.state == TaskState.DONE or self.is_skipped


class Snapshot(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far the work was at a pause or before a replan."""

    snapshot_id: str
    reason: str = ""
    done: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    running: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


class Unavailable(Struct, frozen=True, kw_only=True):
    """A member whose breaker is open; the next offer, the probe, comes after `retry_in_s`."""

    failures: int
    retry_in_s: float
    since: str


class Trouble(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A planner's, a reviewer's or an aggregator's turn failed and is tried again."""

    error_type: str
    message: str = ""
    retries: int = 0
    max_attempts: int = 0
    retry_in_s: float = 0.0
    retry_from: str = ""


class Work(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One piece of work from its plan to its end."""

    question: str = ""
    asked_by: str = ""
    status: str = WORKFLOW.initial
    trigger: str = ""  # of the last phase transition
    replan_reason: str | None = None
    plan_id: str = ""
    summary: str = ""
    proposed: tuple[Document, ...] = ()  # what a plan offers, before it is approved
    kept: tuple[str, ...] = ()  # of the proposed, finished already
    plan_steps: int = 0
    plan_step: str = ""
    problems: tuple[str, ...] = ()  # of the last plan or patch that could not be run
    change: str = ""  # what the planner is turning into patches
    tasks: dict[str, TaskRow] = {}  # in the order of the plan
    slots: dict[str, str] = {}  # agent id → where its machine stands
    unavailable: dict[str, Unavailable] = {}  # by member
    troubles: dict[str, Trouble] = {}  # by job: plan, patch, aggregate, review:<task id>
    snapshot: Snapshot | None = None
    is_aggregating: bool = False
    outcome: str = ""  # complete, partial, or why it ended
    answer: str = ""

    @property
    def is_active(self) -> bool:
        return self.status not in WORKFLOW.final

    @property
    def done_count(self) -> int:
        return sum(row.is_finished for row in self.tasks.values())


class UnderstoodInput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The newest input and what was made of it; `relation` and `route` are empty until they are known."""

    input_id: str
    seq: int
    member: str = ""
    text: str = ""
    relation: str = ""
    confidence: float = 0.0
    reasoning: str = ""
    deltas: dict[str, Any] | None = None  # seed 002 §8.4, when it is about a running task
    route: str = ""
    message: str = ""
    asks: bool = False


class DeferredInput(Struct, frozen=True, kw_only=True):
    """Another goal, for when the current work is over."""

    text: str
    member: str

"""The plan flow's part of the public view of a session."""

from typing import Any

from msgspec import Struct

from moot.core.flows.plan import plan_state
from moot.core.flows.plan.integration import list_queue
from moot.core.flows.plan.plan_slice import find_work
from moot.core.flows.plan.plan_state import Episode, Slots, TaskRun
from moot.core.machines.task import TASK, TaskState
from moot.core.machines.workflow import WORKFLOW
from moot.core.session.state import State
from moot.core.session.tool_use import ToolUse
from moot.core.session.workspace import Workspace
from moot.core.session.workspace_view import TreeRow, TreeStage, show_tree

RESULT_CHARS = 20_000  # of a result or an answer; the log has all of it
_STAGES: dict[str, TreeStage] = {  # by what the work of the task has to pass
    "check": "checking",
    "checked": "checked",
    "merge": "queued",
    "conflict": "conflicted",
}
Document = dict[str, Any]  # a task as it was written


class TaskRow(Struct, frozen=True, kw_only=True):
    """A task on the board. `done` counts the steps since it was last started."""

    task: Document
    state: str = TASK.initial
    member: str = ""
    agent_id: str = ""  # the member's slot that has it
    attempt: int = 1
    retries: int = 0  # since it last succeeded
    max_attempts: int = 0
    retry_in_s: float | None = None  # None while no retry waits
    retry_at: str = ""
    started_at: str = ""
    done: int = 0
    total: int | None = None
    percent: float | None = None
    step: str = ""
    tool: ToolUse | None = None  # the last one that its worker used, or uses now
    result: str = ""
    error_type: str = ""
    message: str = ""
    feedback: str = ""  # the reviewer's
    is_skipped: bool = False
    place: int | None = None  # in the line for room to run, when it was taken
    tree: TreeRow | None = None  # its own, if its member may edit and Moot makes trees

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


class Unavailable(Struct, frozen=True, kw_only=True):
    """A member whose circuit breaker is open; it is offered nothing before `retry_at`."""

    failures: int
    retry_in_s: float
    retry_at: str = ""


class Trouble(Struct, frozen=True, kw_only=True):
    """The turn of a planner, a reviewer or an aggregator failed and is tried again."""

    error_type: str
    message: str = ""
    retries: int = 0
    max_attempts: int = 0
    retry_in_s: float = 0.0
    retry_at: str = ""


class Work(Struct, frozen=True, kw_only=True):
    """One piece of work from its plan to its end. `order` has the ids of `tasks` in the order of the plan."""

    question: str = ""
    asked_by: str = ""
    status: str = WORKFLOW.initial
    trigger: str = ""  # of the last phase transition
    replan_reason: str | None = None
    decision_required: bool = False
    decision_options: tuple[str, ...] = ()
    latest_execution_snapshot_id: str = ""
    plan_id: str = ""
    summary: str = ""
    proposed: tuple[Document, ...] = ()  # what a plan offers, before it is approved
    kept: tuple[str, ...] = ()  # of the proposed, finished already
    plan_steps: int = 0
    plan_step: str = ""
    problems: tuple[str, ...] = ()  # of the last plan or patch that could not be run
    tasks: dict[str, TaskRow] = {}
    order: tuple[str, ...] = ()
    slots: dict[str, str] = {}  # agent id → where its machine stands
    unavailable: dict[str, Unavailable] = {}  # by member
    troubles: dict[str, Trouble] = {}  # by job: plan, patch, aggregate, review:<task id>
    is_aggregating: bool = False
    outcome: str = ""  # complete, partial, or why it ended
    answer: str = ""

    @property
    def rows(self) -> list[TaskRow]:
        """The tasks in the order of the plan."""
        return [self.tasks[task_id] for task_id in self.order]

    @property
    def is_active(self) -> bool:
        return self.status not in WORKFLOW.final

    @property
    def done_count(self) -> int:
        return sum(row.is_finished for row in self.tasks.values())


def project_work(state: State) -> Work | None:
    """Return the view of a session's work; None if there was none yet."""
    work = find_work(state)
    return None if work is None else _show_work(work, state.workspace)


def _show_work(work: plan_state.Work, workspace: Workspace) -> Work:
    trees = _show_trees(work, workspace)
    proposed = () if work.outcome or work.status in WORKFLOW.final else work.proposed
    return Work(
        question=work.question,
        asked_by=work.asked_by,
        status=work.status,
        trigger=work.trigger,
        replan_reason=work.replan_reason,
        decision_required=work.decision_required,
        decision_options=work.decision_options,
        latest_execution_snapshot_id=work.latest_execution_snapshot_id,
        plan_id=work.plan_id,
        summary=work.summary,
        proposed=tuple(task.document for task in proposed),
        kept=work.kept if proposed else (),
        plan_steps=work.plan_steps,
        plan_step=work.plan_step,
        problems=work.problems,
        tasks={task_id: _show_task(run, trees.get(task_id)) for task_id, run in work.tasks.items()},
        order=tuple(work.tasks),
        slots={agent_id: slot for slots in work.slots.values() for agent_id, slot in slots.states.items()},
        unavailable={member: _show_breaker(slots) for member, slots in work.slots.items() if slots.is_open},
        troubles={job: _show_trouble(episode) for job, episode in work.episodes.items()},
        is_aggregating=work.is_aggregating,
        outcome=work.outcome,
        answer=work.answer[:RESULT_CHARS],
    )


def _show_trees(work: plan_state.Work, workspace: Workspace) -> dict[str, TreeRow]:
    """Return the trees of tasks, by the task's id."""
    places = {run.task.id: place for place, run in enumerate(list_queue(work), 1)}
    shown = {}
    for task_id, run in work.tasks.items():
        tree = workspace.trees.get(run.tree)
        if tree:
            shown[task_id] = show_tree(tree, _STAGES.get(run.gate, "working"), places.get(task_id))
    return shown


def _show_task(run: TaskRun, tree: TreeRow | None) -> TaskRow:
    return TaskRow(
        task=run.task.document,
        state=run.state,
        member=run.member or run.given_to,
        agent_id=run.agent_id,
        attempt=run.attempt,
        retries=run.retries,
        max_attempts=run.max_attempts,
        retry_in_s=run.wait.delay_s if run.wait else None,
        retry_at=run.wait.until if run.wait else "",
        started_at=run.started_at,
        done=run.done_steps,
        total=run.total,
        percent=run.percent,
        step=run.step,
        tool=run.tool,
        result=run.result[:RESULT_CHARS],
        error_type=run.error_type,
        message=run.message,
        feedback=run.feedback,
        is_skipped=run.is_skipped,
        place=run.place,
        tree=tree,
    )


def _show_breaker(slots: Slots) -> Unavailable:
    return Unavailable(failures=slots.failures, retry_in_s=slots.delay_s, retry_at=slots.retry_at)


def _show_trouble(episode: Episode) -> Trouble:
    return Trouble(
        error_type=episode.error_type,
        message=episode.message,
        retries=episode.retries,
        max_attempts=episode.max_attempts,
        retry_in_s=episode.wait.delay_s if episode.wait else 0.0,
        retry_at=episode.wait.until if episode.wait else "",
    )

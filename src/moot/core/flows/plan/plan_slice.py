"""The plan flow's part of a session's state, and how it follows the facts."""

from msgspec import field
from msgspec.structs import replace

from moot.core import limits
from moot.core.facts import Fact, Fold, Follow
from moot.core.flows.plan import plan_events, task_fold
from moot.core.flows.plan.plan_fold import work_fold
from moot.core.flows.plan.plan_state import Counts, Episode, Work
from moot.core.intake.door import Door
from moot.core.intake.intent import WorkflowStatus
from moot.core.machines import input_routing, interrupt
from moot.core.machines.interrupt import INTERRUPT, STOPPED
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.task import TaskState
from moot.core.machines.workflow import WORKFLOW, WorkflowState
from moot.core.session import budgets, events
from moot.core.session.session_fold import remember
from moot.core.session.state import Slice, State
from moot.core.session.workspace_events import (
    WorkspaceChecked,
    WorkspaceConflicted,
    WorkspaceMerged,
    WorkspaceQueued,
    WorkspaceResolved,
)

EVALUATIONS = ""  # no task has this id
_STATUSES: dict[WorkflowState, WorkflowStatus] = {
    WorkflowState.PLAN_LOOP: "plan_loop",
    WorkflowState.EXECUTION: "execution",
    WorkflowState.REPLAN_EVALUATION: "replan_evaluation",
    WorkflowState.WAIT_USER_DECISION: "wait_user_decision",
    WorkflowState.COMPLETED: "completed",
    WorkflowState.FAILED: "failed",
}


class PlanSlice(Slice, frozen=True, kw_only=True, gc=False, tag="plan"):
    """`task_turns`: member → task id → how many turns the member had for it, in all work of the session.

    `EVALUATIONS` stands there for turns in which the member weighed whether a plan holds.
    """

    work: Work | None = None
    task_turns: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def current(self) -> Work:
        """The work that was begun last. Raises LookupError if none was."""
        if self.work is None:
            raise LookupError("no work was begun")
        return self.work

    @property
    def is_active(self) -> bool:
        return self.work is not None and self.work.is_active

    @property
    def is_approved(self) -> bool:
        return self.work is not None and self.work.is_approved

    @property
    def has_workers(self) -> bool:
        return self.work is not None

    @property
    def asked_by(self) -> str:
        return self.work.asked_by if self.work else ""

    @property
    def goal(self) -> str:
        return self.work.question if self.work else ""

    def is_under_way(self, turn_id: str) -> bool:
        return self.work is not None and turn_id in self.work.dispatches

    @property
    def workers(self) -> dict[str, str]:
        if self.work is None:
            return {}
        runs = {dispatch_id: self.work.tasks[task_id] for dispatch_id, task_id in self.work.dispatches.items()}
        return {dispatch_id: run.member for dispatch_id, run in runs.items() if run.state is TaskState.RUNNING}


fold: Fold[State] = Fold()
follow: Follow[State] = Follow()


def find_work(state: State) -> Work | None:
    """Return the work that is under way, or the last one; None in a session of another flow."""
    return state.slice.work if isinstance(state.slice, PlanSlice) else None


def workflow_status(state: State) -> WorkflowStatus:
    """Return the progress of the work as one of the statuses that understanding knows."""
    work = find_work(state)
    if work is None:
        return "paused" if state.interrupt is not Interrupt.EXECUTION else "execution" if state.running else "idle"
    if work.is_active and (state.interrupt is Interrupt.PAUSING or state.interrupt in STOPPED):
        return "paused"
    return _STATUSES[work.status]


def _with_work(state: State, work: Work, door: Door | None = None) -> State:
    changed = replace(state.part(PlanSlice), work=work)
    return replace(state, slice=changed) if door is None else replace(state, slice=changed, door=door)


def _change_work(state: State, fact: Fact) -> State:
    plan = state.part(PlanSlice)
    return replace(state, slice=replace(plan, work=work_fold.table[type(fact)](plan.current, fact)))


# the work begins, is planned, changes and ends


@fold.on(plan_events.WorkflowChanged)
def _change_workflow(state: State, fact: plan_events.WorkflowChanged) -> State:
    if fact.was is None:
        return _begin(state, fact)
    door = state.door
    if fact.trigger in ("major_failure", "major_change"):
        door = door.move(input_routing.replan)
    elif fact.trigger in ("user_choose_continue", "replan_not_required"):
        door = door.move(input_routing.continue_anyway)
    elif fact.trigger == "unrecoverable_failure":
        door = door.move(input_routing.fail)
    return replace(_change_work(state, fact), door=door)


def _begin(state: State, fact: plan_events.WorkflowChanged) -> State:
    """New work begins. Its counts go on from those of the work before it."""
    before = state.part(PlanSlice).work
    if before and fact.trigger == plan_events.BROUGHT_BACK:
        work = replace(before, status=WORKFLOW.initial, trigger=fact.trigger, outcome="")
        return replace(_with_work(state, work, state.door.move(input_routing.begin_work)), interrupt=INTERRUPT.initial)
    work = Work(
        question=fact.question or "",
        asked_by=fact.asked_by or "",
        before=_join_answers(before)[: limits.HISTORY_CHARS]
        if before and before.status is WorkflowState.COMPLETED
        else "",
        asks_back=fact.asks_back,
        trigger=fact.trigger,
        counts=before.counts if before else Counts(),
        latest_execution_snapshot_id=before.latest_execution_snapshot_id if before else "",
    )
    left = state.door.deferred[1:] if fact.is_deferred else state.door.deferred
    door = replace(state.door.move(input_routing.begin_work), deferred=left)
    return _note_decisions(replace(_with_work(state, work, door), interrupt=INTERRUPT.initial))


def _join_answers(work: Work) -> str:
    """Return the answer of complete work; one about earlier work is given after the answer that it is about."""
    return f"{work.before}\n\n{work.answer}" if work.asks_back else work.answer


@fold.on(plan_events.PlanStarted)
def _start_planning(state: State, fact: plan_events.PlanStarted) -> State:
    door = state.door.move(input_routing.start_planning)
    return replace(_change_work(state, fact), door=door, interrupt=INTERRUPT.initial)


@fold.on(plan_events.PlanApproved)
def _approve(state: State, fact: plan_events.PlanApproved) -> State:
    return replace(_change_work(state, fact), door=state.door.move(input_routing.approve_plan))


@fold.on(plan_events.PlanPatched)
def _patch(state: State, fact: plan_events.PlanPatched) -> State:
    door = state.door.move(input_routing.apply_patch)
    return replace(_change_work(state, fact), door=door, interrupt=interrupt.apply_patch(state.interrupt))


@fold.on(plan_events.PipelineCompleted)
def _complete(state: State, fact: plan_events.PipelineCompleted) -> State:
    return replace(_change_work(state, fact), door=state.door.move(input_routing.complete))


@fold.on(plan_events.Interrupted, plan_events.PlanCancelled)
def _cancel(state: State, fact: plan_events.Interrupted | plan_events.PlanCancelled) -> State:
    door = state.door.move(input_routing.cancel)
    return replace(_change_work(state, fact), door=door, interrupt=INTERRUPT.initial)


@fold.on(plan_events.SnapshotSaved)
def _save_snapshot(state: State, fact: plan_events.SnapshotSaved) -> State:
    saved = _change_work(state, fact)
    return replace(saved, interrupt=interrupt.save_checkpoint(state.interrupt)) if fact.reason == "pause" else saved


@fold.on(plan_events.FinalAnswered)
def _answer(state: State, fact: plan_events.FinalAnswered) -> State:
    return remember(state, fact.member, fact.text)


# tasks are turns of their members too


@fold.on(plan_events.DispatchRequested)
def _request_dispatch(state: State, fact: plan_events.DispatchRequested) -> State:
    """A second offer of the same attempt is the same turn of the member."""
    if fact.is_again:
        return _change_work(state, fact)
    plan = state.part(PlanSlice)
    earlier = plan.task_turns.get(fact.member, {})
    return replace(
        state,
        slice=replace(
            plan,
            work=task_fold.request(plan.current, fact, earlier),
            task_turns={**plan.task_turns, fact.member: {**earlier, fact.task_id: fact.task_index + 1}},
        ),
        turns_by_member={**state.turns_by_member, fact.member: fact.index + 1},
    )


@fold.on(plan_events.SolverStarted)
def _start_task(state: State, fact: plan_events.SolverStarted) -> State:
    return replace(_change_work(state, fact), **budgets.charge(state, fact.member, turns=1))


@fold.on(plan_events.SolverProgressed)
def _progress(state: State, fact: plan_events.SolverProgressed) -> State:
    return replace(_change_work(state, fact), door=state.door.move(input_routing.iterate))


@fold.on(plan_events.SolverCompleted)
def _complete_task(state: State, fact: plan_events.SolverCompleted) -> State:
    return replace(_change_work(state, fact), **budgets.charge(state, fact.member, fact.usage))


@fold.on(plan_events.TaskFailed)
def _fail_task(state: State, fact: plan_events.TaskFailed) -> State:
    charged = budgets.charge(state, fact.member, fact.usage)
    return replace(_change_work(state, fact), failed_turns=state.failed_turns + 1, **charged)


for _kind in work_fold.table:
    if _kind not in fold.table:
        fold.on(_kind)(_change_work)


# facts of every session


@follow.on(events.TurnStarted)
def _start_job(before: State, after: State, fact: events.TurnStarted) -> State:
    """Count the turn for its task. A review moves the task that it is about; a retry is no longer waited for."""
    plan = before.part(PlanSlice)
    work, turn = plan.current, after.running[-1]
    earlier = plan.task_turns.get(fact.member, {})
    if turn.job == "review" and work.tasks[turn.task_id].state is TaskState.EXECUTION_SUCCEEDED:
        work = task_fold.request_review(work, turn.task_id)
    episode = work.episodes.get(turn.episode)
    if episode:
        work = replace(work, episodes={**work.episodes, turn.episode: replace(episode, wait=None)})
    task_turns = plan.task_turns
    if turn.task_id or turn.job == "evaluate":
        key = EVALUATIONS if turn.job == "evaluate" else turn.task_id
        task_turns = {**task_turns, fact.member: {**earlier, key: turn.task_index + 1}}
    return replace(
        after,
        running=(*after.running[:-1], replace(turn, earlier=earlier)),
        slice=replace(plan, work=work, task_turns=task_turns),
    )


@follow.on(events.TurnFailed)
def _fail_job(before: State, after: State, fact: events.TurnFailed) -> State:
    """Count the failures of a job that is not a task."""
    turn, work = before.turn(fact.turn_id), before.part(PlanSlice).work
    if turn is None or work is None:
        return after
    known = work.episodes.get(turn.episode)
    episode = Episode(
        job=turn.job,
        task_id=turn.task_id,
        retries=known.retries if known else 0,
        max_attempts=known.max_attempts if known else 0,
        error_type=fact.error_type,
        message=fact.message,
    )
    return _with_work(after, replace(work, episodes={**work.episodes, turn.episode: episode}))


@follow.on(events.TurnCancelled)
def _cancel_job(before: State, after: State, fact: events.TurnCancelled) -> State:
    """Forget the failures of a cancelled job: its next turn starts with a fresh count."""
    turn, work = before.turn(fact.turn_id), before.part(PlanSlice).work
    if turn is None or work is None or turn.episode not in work.episodes:
        return after
    left = {job: episode for job, episode in work.episodes.items() if job != turn.episode}
    return _with_work(after, replace(work, episodes=left))


@follow.on(WorkspaceChecked)
def _check(before: State, after: State, fact: WorkspaceChecked) -> State:
    """Let the work of a task pass when the last of its checks has."""
    work = before.part(PlanSlice).work
    if work is None or fact.stage != "task" or fact.exit or fact.n < fact.total:
        return after
    return _with_work(after, task_fold.pass_gate(work, fact.task_id or "", "checked"))


@follow.on(WorkspaceQueued)
def _enqueue(before: State, after: State, fact: WorkspaceQueued) -> State:
    work = before.part(PlanSlice).work
    if work is None:
        return after
    changes = {"queued": fact.number, "queued_at": fact.queued_at}
    queued = task_fold.pass_gate(work, fact.task_id, "merge", **changes)
    return _with_work(after, replace(queued, counts=replace(work.counts, merges=fact.number)))


@follow.on(WorkspaceResolved)
def _resolve(before: State, after: State, fact: WorkspaceResolved) -> State:
    work = before.part(PlanSlice).work
    if work is None:
        return after
    return _with_work(after, task_fold.pass_gate(work, fact.task_id, "merge", side=fact.side, side_files=fact.files))


@follow.on(WorkspaceConflicted)
def _conflict(before: State, after: State, fact: WorkspaceConflicted) -> State:
    work = before.part(PlanSlice).work
    if work is None:
        return after
    return _with_work(after, task_fold.pass_gate(work, fact.task_id, "conflict", side="", side_files=()))


@follow.on(WorkspaceMerged)
def _merge(before: State, after: State, fact: WorkspaceMerged) -> State:
    work = before.part(PlanSlice).work
    return after if work is None else _with_work(after, task_fold.merge(work, fact.task_id, fact.state, fact.ready))


@follow.on(events.StepAsked)
def _ask(_: State, after: State, __: events.StepAsked) -> State:
    return _note_decisions(after)


@follow.on(events.StepClosed)
def _close(before: State, after: State, fact: events.StepClosed) -> State:
    step = before.open_steps.get(fact.step_id)
    return after if step and step.turn_id else _note_decisions(after)


def _note_decisions(state: State) -> State:
    """Record in the work whether it waits for a decision, and the options."""
    work = state.part(PlanSlice).work
    if work is None:
        return state
    asked = [step for step in state.open_steps.values() if not step.turn_id]  # the others hold up one worker only
    options = tuple(option.id for step in asked for option in step.options)
    return _with_work(state, replace(work, decision_required=bool(asked), decision_options=options))

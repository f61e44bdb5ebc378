"""How the front door and the work of a session evolve: the part of `evolve` that chat does without."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from moot.core import budgets, events, interruption, limits
from moot.core import door as doors
from moot.core.door import Deferred
from moot.core.machines.input_routing import Trigger as InputTrigger
from moot.core.machines.interrupt import INTERRUPT
from moot.core.machines.interrupt import Trigger as InterruptTrigger
from moot.core.machines.task import State as TaskState
from moot.core.plan import events as plan_events
from moot.core.plan import fold_tasks
from moot.core.plan.fold import FOLD
from moot.core.plan.state import Counts, Work
from moot.core.state import Message, State, Turn
from moot.core.text import cut


def start_job(state: State, turn: Turn) -> State:
    """A turn of the plan flow: counted for its task, and a review moves the task that it is about."""
    work = state.work
    assert work is not None  # noqa: S101 - jobs belong to work
    if turn.job == "review" and work.tasks[turn.task_id].state is TaskState.EXECUTION_SUCCEEDED:
        work = fold_tasks.request_review(work, turn.task_id)
    episode = work.episodes.get(turn.episode)
    if episode:
        work = replace(work, episodes={**work.episodes, turn.episode: replace(episode, wait=None)})
    return replace(state, work=work, task_turns=_count(state, turn.member, turn.task_id, turn.task_index + 1))


def forget_episode(state: State, episode: str) -> State:
    """Its turn was cancelled: whoever is given the job next begins anew."""
    work = state.work
    if work is None or episode not in work.episodes:
        return state
    left = {job: each for job, each in work.episodes.items() if job != episode}
    return replace(state, work=replace(work, episodes=left))


def _count(state: State, member: str, task_id: str, turns: int) -> dict[str, dict[str, int]]:
    if not task_id:
        return state.task_turns
    return {**state.task_turns, member: {**state.task_turns.get(member, {}), task_id: turns}}


def remember(state: State, member: str, said: str) -> State:
    """The newest message is kept whole, older ones are cut: the state stays small, the log has all of it."""
    older = state.history
    if older and len(older[-1].text) > limits.HISTORY_CHARS:
        older = (*older[:-1], Message(older[-1].member, cut(older[-1].text, limits.HISTORY_CHARS)))
    keep = max(state.team.chat.history, 1)
    history = (*older, Message(member, said))[-keep:]
    return replace(state, history=history, message_count=state.message_count + 1)


def note_decisions(state: State) -> State:
    """Seed 002 §11: whether the work waits for a decision, and between what."""
    if state.work is None:
        return state
    asked = [step for step in state.open_steps.values() if not step.turn_id]  # for those a single worker waits
    options = tuple(option.id for step in asked for option in step.options)
    noted = replace(state.work, decision_required=bool(asked), decision_options=options)
    return replace(state, work=noted)


BY_CHOICE = {
    "replan": InputTrigger.USER_CHOOSE_REPLAN,
    "continue": InputTrigger.USER_CHOOSE_CONTINUE,
    "minor_replan": InputTrigger.USER_CHOOSE_CONTINUE,
    "pause": InputTrigger.USER_CHOOSE_CONTINUE,
    "resume": InputTrigger.USER_CHOOSE_CONTINUE,
    "status_query": InputTrigger.USER_CHOOSE_CONTINUE,
    "finish_first": InputTrigger.USER_CHOOSE_CONTINUE,
    "close_and_start": InputTrigger.USER_CHOOSE_NEW_TASK,
    "drop": InputTrigger.USER_ABORT,
    "cancel": InputTrigger.USER_ABORT,
}


def choose(state: State, fact: events.StepClosed) -> State:
    """A human decided what becomes of an input."""
    trigger = BY_CHOICE.get(fact.choice or "")
    if trigger is None:
        return state
    chosen = state.door.move(trigger)
    if fact.choice == "continue":
        chosen = chosen.move(InputTrigger.USER_REJECTED_CONTINUE_ANYWAY)
    held = interruption.choose(state.interrupt, fact.choice or "")
    return replace(state, door=chosen.move(InputTrigger.RESUMED), interrupt=held)


def _begin_understanding(state: State, fact: events.UnderstandingStarted) -> State:
    return replace(state, door=doors.begin(state.door, fact))


def _complete_understanding(state: State, fact: events.UnderstandingCompleted) -> State:
    return replace(state, door=doors.complete(state.door, fact))


def _route(state: State, fact: events.RoutingDecided) -> State:
    if fact.route is None:  # chat: the queue decides
        return state
    door = doors.route(state.door, fact)
    if fact.route == "continue_execution":
        door = door.move(InputTrigger.RESUMED)
    if fact.route == "control_action":
        control = fact.payload.control_action if fact.payload else None
        if not state.is_at_work or control == "cancel":
            door = door.move(InputTrigger.ACTION_COMPLETED)
        else:
            approved = state.work is None or state.work.is_approved
            door = door.move(InputTrigger.RETURNED_TO_EXECUTION if approved else InputTrigger.RETURNED_TO_PLAN)
    return replace(state, door=door, interrupt=interruption.relate(state.interrupt, fact.route))


def _change_workflow(state: State, fact: plan_events.WorkflowChanged) -> State:
    """A workflow begins with `was` unset; its counts go on from those of the one before."""
    if fact.was is None:
        before = state.work
        begun = Work(
            question=fact.question or "",
            asked_by=fact.asked_by or "",
            counts=before.counts if before else Counts(),
            latest_execution_snapshot_id=before.latest_execution_snapshot_id if before else "",
        )
        left = state.door.deferred[1:] if fact.is_deferred else state.door.deferred
        door = replace(doors.begin_work(state.door), deferred=left)
        return note_decisions(replace(state, work=begun, door=door, interrupt=INTERRUPT.initial))
    door = state.door
    if fact.trigger in ("major_failure", "major_change"):
        door = door.move(InputTrigger.MAJOR_FAILURE_OR_CHANGE)
    elif fact.trigger in ("user_choose_continue", "replan_not_required"):
        door = door.move(InputTrigger.USER_REJECTED_CONTINUE_ANYWAY)
    elif fact.trigger == "unrecoverable_failure":
        door = door.move(InputTrigger.UNRECOVERABLE)
    return replace(_work(state, fact), door=door)


def _work(state: State, fact: plan_events.PlanFact) -> State:
    assert state.work is not None  # noqa: S101 - the first fact of a work is the change that begins it
    return replace(state, work=FOLD[type(fact)](state.work, fact))


# facts of the work that move an input along its machine
MOVES: dict[type, tuple[InputTrigger, ...]] = {
    plan_events.PlanStarted: (InputTrigger.USER_CONFIRMED, InputTrigger.NEW_TASK_STARTED),
    plan_events.PlanApproved: (
        InputTrigger.NEW_TASK_STARTED,
        InputTrigger.PLAN_APPROVED,
        InputTrigger.PATCHES_APPLIED,
    ),
    plan_events.PlanPatched: (InputTrigger.PATCHES_APPLIED,),
    plan_events.PipelineCompleted: (InputTrigger.ALL_DONE,),
    plan_events.Interrupted: (InputTrigger.CURRENT_TASK_CLOSED, InputTrigger.CANCELLED),
    plan_events.PlanCancelled: (InputTrigger.CURRENT_TASK_CLOSED, InputTrigger.CANCELLED),
}


def _work_and_door(state: State, fact: plan_events.PlanFact) -> State:
    door = state.door
    for trigger in MOVES[type(fact)]:
        door = door.move(trigger)
    held = state.interrupt
    if isinstance(fact, plan_events.PlanPatched):
        held = INTERRUPT.follow(held, InterruptTrigger.PATCH_PLAN_APPLIED)
    elif not isinstance(fact, plan_events.PlanApproved | plan_events.PipelineCompleted):
        held = INTERRUPT.initial  # the work that was interrupted is over, or another one now
    return replace(_work(state, fact), door=door, interrupt=held)


def _request_dispatch(state: State, fact: plan_events.DispatchRequested) -> State:
    """A second offer of the same attempt is the same turn of the member."""
    assert state.work is not None  # noqa: S101 - tasks belong to work
    if fact.is_again:
        return _work(state, fact)
    earlier = state.task_turns.get(fact.member, {})
    return replace(
        state,
        work=fold_tasks.request(state.work, fact, earlier),
        turns_by_member={**state.turns_by_member, fact.member: fact.index + 1},
        task_turns={**state.task_turns, fact.member: {**earlier, fact.task_id: fact.task_index + 1}},
    )


def _start_task(state: State, fact: plan_events.SolverStarted) -> State:
    return replace(_work(state, fact), **budgets.charge(state, fact.member, turns=1))


def _end_task(state: State, fact: plan_events.SolverCompleted | plan_events.TaskFailed) -> State:
    return replace(_work(state, fact), **budgets.charge(state, fact.member, fact.usage))


def _save_snapshot(state: State, fact: plan_events.SnapshotSaved) -> State:
    held = INTERRUPT.follow(state.interrupt, InterruptTrigger.CHECKPOINT_SAVED)
    return replace(_work(state, fact), interrupt=held if fact.reason == "pause" else state.interrupt)


def _defer(state: State, fact: plan_events.InputDeferred) -> State:
    deferred = (*state.door.deferred, Deferred(fact.text, fact.member))
    return replace(state, door=replace(state.door, deferred=deferred))


def _final_answer(state: State, fact: plan_events.FinalAnswered) -> State:
    return remember(state, fact.member, fact.text)


# what `evolve` looks up for these facts
WORK: dict[type, Callable[[State, Any], State]] = {
    events.UnderstandingStarted: _begin_understanding,
    events.UnderstandingCompleted: _complete_understanding,
    events.RoutingDecided: _route,
    **dict.fromkeys(FOLD, _work),
    **dict.fromkeys(MOVES, _work_and_door),
    plan_events.WorkflowChanged: _change_workflow,
    plan_events.DispatchRequested: _request_dispatch,
    plan_events.SolverStarted: _start_task,
    plan_events.SolverCompleted: _end_task,
    plan_events.TaskFailed: _end_task,
    plan_events.SnapshotSaved: _save_snapshot,
    plan_events.InputDeferred: _defer,
    plan_events.FinalAnswered: _final_answer,
}

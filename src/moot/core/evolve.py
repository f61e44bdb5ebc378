"""evolve(state, fact) → state. Decides nothing and cannot fail on facts that `decide` made."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from moot.core import budgets, events, evolve_supervision, evolve_work, interruption, limits
from moot.core.events import Fact
from moot.core.machines import session
from moot.core.machines.interrupt import INTERRUPT
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.interrupt import Trigger as InterruptTrigger
from moot.core.machines.session import SESSION, Status
from moot.core.markers import Priority
from moot.core.plan.state import Episode
from moot.core.routing import Entry
from moot.core.state import ClosedStep, Outcome, Reply, State, Turn
from moot.core.team import Team


def evolve(state: State | None, fact: Fact) -> State:
    """The state after `fact`. Only `SessionCreated` comes to no state."""
    if state is None:
        assert isinstance(fact, events.SessionCreated), fact  # noqa: S101 - a log starts so, by the codec's contract
        return _create(fact)
    return _EVOLVE[type(fact)](state, fact)


def _create(fact: events.SessionCreated) -> State:
    team = Team(
        name=fact.team,
        flow=fact.flow,
        language=fact.language,
        members=fact.members,
        understanding=fact.understanding,
        thresholds=fact.thresholds,
        chat=fact.chat,
        plan=fact.plan,
        supervisor=fact.supervisor,
        budget=fact.budget,
    )
    return State(team=team, title=fact.title, language=fact.language)


def _stay(state: State, fact: Fact) -> State:  # noqa: ARG001 - one signature for all
    return state


def _change_queue(state: State, fact: events.QueueChanged) -> State:
    return replace(state, executing=fact.executing, queue=_entries(fact))


def _entries(fact: events.QueueChanged) -> tuple[Entry, ...]:
    if not fact.priorities:
        return tuple([Entry(member) for member in fact.pending])
    return tuple(
        Entry(member, Priority(priority)) for member, priority in zip(fact.pending, fact.priorities, strict=True)
    )


def _remember(state: State, fact: events.MessagePosted) -> State:
    remembered = evolve_work.remember(state, fact.member, fact.text)
    return replace(remembered, hops=0) if fact.turn_id is None else remembered  # a human spoke


def _start_turn(state: State, fact: events.TurnStarted) -> State:
    turn = Turn(
        turn_id=fact.turn_id,
        member=fact.member,
        index=fact.index,
        job=fact.job,
        task_id=fact.task_id,
        task_index=fact.task_index,
        earlier=state.task_turns.get(fact.member, {}) if fact.job else {},
    )
    started = replace(
        state,
        running=(*state.running, turn),
        failed=None,
        turn_count=state.turn_count + 1,
        turns_by_member={**state.turns_by_member, fact.member: fact.index + 1},
        hops=fact.hop,
        **budgets.charge(state, fact.member, turns=1),
    )
    if not turn.job:
        return started
    if state.supervision is not None:
        return evolve_supervision.start_turn(started, turn.job)
    return evolve_work.start_job(started, turn)


def _complete_turn(state: State, fact: events.TurnCompleted) -> State:
    ended = replace(state, running=_without(state, fact.turn_id), **budgets.charge(state, fact.member, fact.usage))
    return ended if state.supervision is None else evolve_supervision.complete_turn(ended)


def _fail_turn(state: State, fact: events.TurnFailed) -> State:
    turn = state.turn(fact.turn_id)
    charged = budgets.charge(state, fact.member, fact.usage)
    ended = replace(state, running=_without(state, fact.turn_id), failed=turn, **charged)
    if turn is None or not turn.job or state.work is None:
        return ended
    before = state.work.episodes.get(turn.episode)
    episode = Episode(
        job=turn.job,
        task_id=turn.task_id,
        retries=before.retries if before else 0,
        error_type=fact.error_type,
        message=fact.message,
    )
    return replace(ended, work=replace(state.work, episodes={**state.work.episodes, turn.episode: episode}))


def _cancel_turn(state: State, fact: events.TurnCancelled) -> State:
    turn = state.turn(fact.turn_id)
    ended = replace(state, running=_without(state, fact.turn_id), failed=turn)
    return evolve_work.forget_episode(ended, turn.episode) if turn and turn.job else ended


def _without(state: State, turn_id: str) -> tuple[Turn, ...]:
    return tuple([turn for turn in state.running if turn.turn_id != turn_id])


def _pause(state: State, fact: events.SessionPaused) -> State:
    trigger = session.Trigger.FALLBACK if fact.reason == "fallback" else session.Trigger.ROUTE_TO_HUMAN
    pausing = state.interrupt is Interrupt.PAUSING
    return replace(
        state,
        status=SESSION.advance(state.status, trigger),
        waiting_for=fact.waiting_for,
        pause_reason=fact.reason,
        interrupt=INTERRUPT.advance(state.interrupt, InterruptTrigger.CHECKPOINT_SAVED) if pausing else state.interrupt,
    )


def _activate(state: State, fact: events.SessionActivated) -> State:  # noqa: ARG001
    """A human let the work go on: hops start again, and so does a budget that was used up."""
    paused = state.status is Status.PAUSED
    trigger = session.Trigger.HUMAN_INPUT if paused else session.Trigger.AI_CHAINED
    return replace(
        state,
        status=SESSION.advance(state.status, trigger),
        waiting_for=None,
        pause_reason=None,
        interrupt=interruption.resume(state.interrupt),
        hops=0,
        **(budgets.grant(state) if state.pause_reason == "budget" else {}),
    )


def _request_pause(state: State, fact: events.PauseRequested) -> State:
    held = INTERRUPT.advance(state.interrupt, InterruptTrigger.PAUSE_BUTTON)
    return replace(state, interrupt=held, pause_requested_by=fact.member)


def _complete(state: State, fact: events.SessionCompleted) -> State:  # noqa: ARG001
    trigger = session.Trigger.STOP if state.status is Status.ACTIVE else session.Trigger.END
    door = replace(state.door, inputs=()) if state.door.inputs else state.door
    return replace(state, status=SESSION.advance(state.status, trigger), waiting_for=None, door=door)


def _set_team_task(state: State, fact: events.TeamTaskSet) -> State:
    return replace(state, team_task=fact.team_task)


def _change_language(state: State, fact: events.LanguageChanged) -> State:
    return replace(state, language=fact.language)


def _rename(state: State, fact: events.SessionRenamed) -> State:
    return replace(state, title=fact.title)


def _open_step(state: State, fact: events.StepAsked) -> State:
    asked = replace(state, open_steps={**state.open_steps, fact.step_id: fact}, step_count=state.step_count + 1)
    return evolve_work.note_decisions(asked)


def _close_step(state: State, fact: events.StepClosed) -> State:
    still_open = {step_id: step for step_id, step in state.open_steps.items() if step_id != fact.step_id}
    closed = {**state.closed_steps, fact.step_id: ClosedStep(Outcome(fact.outcome), fact.by)}
    while len(closed) > limits.CLOSED_STEPS:
        del closed[next(iter(closed))]
    step = state.open_steps.get(fact.step_id)
    answered = replace(state, open_steps=still_open, closed_steps=closed)
    if step and step.turn_id:
        return _keep_reply(answered, step, fact)
    if step and step.input:
        answered = evolve_work.choose(answered, fact)
    return evolve_supervision.close_step(evolve_work.note_decisions(answered), step, fact)


def _keep_reply(state: State, step: events.StepAsked, fact: events.StepClosed) -> State:
    """For as long as the turn is under way. Nothing else waits for it: neither the work nor a supervisor's job."""
    reply = Reply(step.turn_id, fact.choice if fact.outcome == "answered" else step.default)
    kept = {**state.replies, step.step_id: reply}
    return replace(state, replies={key: each for key, each in kept.items() if state.is_under_way(each.turn_id)})


# One function a fact. Looked up, not matched: folding is hot. A test holds the table to the union.
_EVOLVE: dict[type, Callable[[State, Any], State]] = {
    events.MessagePosted: _remember,
    events.QueueChanged: _change_queue,
    events.TurnStarted: _start_turn,
    events.TurnStepped: _stay,
    events.TurnCompleted: _complete_turn,
    events.TurnFailed: _fail_turn,
    events.TurnCancelled: _cancel_turn,
    events.SessionActivated: _activate,
    events.PauseRequested: _request_pause,
    events.SessionPaused: _pause,
    events.SessionCompleted: _complete,
    events.TeamTaskSet: _set_team_task,
    events.LanguageChanged: _change_language,
    events.SessionRenamed: _rename,
    events.NoticePosted: _stay,
    events.StepAsked: _open_step,
    events.StepClosed: _close_step,
    **evolve_work.WORK,
    **evolve_supervision.SUPERVISION,
}

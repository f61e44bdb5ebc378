"""What people do to running work: pause, resume, retry, cancel, change the queue. The same in every flow."""

from moot.core.commands import ChangeQueue
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.events import PauseRequested, SessionActivated, TurnCancelled
from moot.core.flows.catalogue import rules_of
from moot.core.machines.interrupt import State as Interrupt
from moot.core.routing import Entry
from moot.core.state import State
from moot.core.team import Member


def pause(draft: Draft, by: Member | None) -> None:
    """A running turn finishes, then the queue waits; with nothing running it waits at once."""
    state = draft.state
    if state.interrupt is Interrupt.EXECUTION:
        draft.add(PauseRequested(member=by.id if by else None))
    if not state.running:
        draft.pause(by or floor_holder(state), "user_pause")


def resume(draft: Draft) -> None:
    state = draft.state
    if state.running and state.interrupt is not Interrupt.PAUSING:
        raise Refused("still_running", who=state.team.member(state.running[0].member).display_name)
    if not state.running and not state.queue:
        raise Refused("nothing_to_resume")
    draft.add(SessionActivated())
    if not state.running:
        rules_of(state.team.flow).give_floor(draft)


def retry(draft: Draft) -> None:
    """Repeat the turn that failed or was cancelled last."""
    state = draft.state
    if state.running:
        raise Refused("still_running", who=state.team.member(state.running[0].member).display_name)
    if state.failed is None:
        raise Refused("nothing_to_retry")
    draft.add(SessionActivated())
    rules_of(state.team.flow).retry_turn(draft, state.failed)


def cancel(draft: Draft, by: Member | None) -> None:
    """Kill what runs; the queue is kept and the floor goes to the human who asked."""
    state = draft.state
    if not state.running:
        raise Refused("nothing_running")
    for turn in state.running:
        draft.add(TurnCancelled(turn_id=turn.turn_id, member=turn.member, reason="user_cancel"))
    draft.set_queue(None, state.queue)
    draft.pause(by or state.team.first_human, "user_pause")


def change_queue(draft: Draft, command: ChangeQueue) -> None:
    queue = draft.state.queue
    if not queue:
        raise Refused("queue_empty")
    match command.action:
        case "clear":
            changed: tuple[Entry, ...] = ()
        case "skip":
            at = _position(draft.state, command.member) if command.member else 0
            changed = queue[:at] + queue[at + 1 :]
        case "move":
            at = _position(draft.state, command.member or "")
            rest = queue[:at] + queue[at + 1 :]
            to = max(0, min(command.to, len(rest)))
            # a place chosen by hand beats priorities
            changed = tuple(Entry(entry.member) for entry in (*rest[:to], queue[at], *rest[to:]))
    draft.set_queue(draft.state.executing, changed)


def _position(state: State, name: str) -> int:
    found = state.team.find(name)
    for at, entry in enumerate(state.queue):
        if found and entry.member == found.id:
            return at
    held = tuple(state.team.member(entry.member).display_name for entry in state.queue)
    raise Refused("not_in_queue", who=name or "?", available=held)


def floor_holder(state: State) -> Member:
    return state.team.member(state.waiting_for) if state.waiting_for else state.team.first_human

"""What people do to the queue, and who has the floor."""

from moot.core.commands import ChangeQueue
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.routing import Entry
from moot.core.state import State
from moot.core.team import Member


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

"""The queue of a chat: who acts, who waits for the floor, and how people change it."""

from collections.abc import Sequence

from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.flows.chat.chat_events import QueueChanged
from moot.core.flows.chat.chat_slice import ChatSlice, Entry
from moot.core.intake.markers import Priority
from moot.core.session import steps
from moot.core.session.commands import Answer, ChangeQueue
from moot.core.session.events import StepAsked, StepClosed
from moot.core.session.state import State
from moot.core.session.team import Member

CLEAR = "confirm_queue_clear"


def set_queue(draft: Draft, executing: str | None, entries: tuple[Entry, ...]) -> None:
    """Log the queue if it has changed."""
    chat = draft.state.part(ChatSlice)
    if executing != chat.executing or entries != chat.entries:
        log_queue(draft, executing, entries)


def log_queue(draft: Draft, executing: str | None, entries: tuple[Entry, ...]) -> None:
    if not entries:
        draft.add(QueueChanged(executing=executing, pending=()))
        return
    pending = tuple([entry.member for entry in entries])
    priorities = tuple([entry.priority for entry in entries])
    is_plain = priorities.count(Priority.P2) == len(priorities)
    draft.add(QueueChanged(executing=executing, pending=pending, priorities=() if is_plain else priorities))


def is_longer(after: Sequence[object], before: Sequence[object]) -> bool:
    """Whether people should see that the queue grew. A single member does not wait: it gets the floor at once."""
    return len(after) > max(len(before), 1)


def change(draft: Draft, command: ChangeQueue) -> None:
    """Skip, clear or move entries. Raises Refused if the queue is empty or the member is not in it."""
    chat = draft.state.part(ChatSlice)
    entries = chat.entries
    if not entries:
        raise Refused("queue_empty")
    match command.action:
        case "clear":
            changed: tuple[Entry, ...] = ()
        case "skip":
            at = _find_position(draft.state, command.member) if command.member else 0
            changed = entries[:at] + entries[at + 1 :]
        case "move":
            at = _find_position(draft.state, command.member or "")
            rest = entries[:at] + entries[at + 1 :]
            to = max(0, min(command.to, len(rest)))
            # priorities are reset, because the order was chosen by hand
            changed = tuple(Entry(entry.member) for entry in (*rest[:to], entries[at], *rest[to:]))
    set_queue(draft, chat.executing, changed)


def _find_position(state: State, name: str) -> int:
    member = state.team.find(name)
    entries = state.part(ChatSlice).entries
    for at, entry in enumerate(entries):
        if member and entry.member == member.id:
            return at
    available = tuple(state.team.member(entry.member).display_name for entry in entries)
    raise Refused("not_in_queue", who=name or "?", available=available)


def ask_to_clear(draft: Draft, by: Member | None) -> None:
    """Ask for a confirmation to clear the queue. A second question replaces the first."""
    state = draft.state
    if not state.part(ChatSlice).entries:
        raise Refused("queue_empty")
    for step in state.open_steps.values():
        if step.code == CLEAR:
            draft.add(StepClosed(step_id=step.step_id, outcome="superseded"))
    steps.ask(draft, CLEAR, ("clear", "keep"), asked_by=by.id if by else None)
    if not state.running:
        draft.pause(by or state.floor_holder, "step")


def answer_clear(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    steps.answer(draft, step, command, by)
    is_agreed = command.confirmed if command.choice is None else command.choice == "clear"
    if is_agreed and draft.state.part(ChatSlice).entries:
        change(draft, ChangeQueue(action="clear"))

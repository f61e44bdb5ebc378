"""The chat flow's part of a session's state: who acts and who waits for the floor."""

from msgspec import Struct
from msgspec.structs import replace

from moot.core.facts import Fold, Follow
from moot.core.flows.chat.chat_events import QueueChanged
from moot.core.intake.markers import Priority
from moot.core.session.state import Slice, State


class Entry(Struct, frozen=True, array_like=True, gc=False):
    """A member in the queue."""

    member: str
    priority: Priority = Priority.P2


class ChatSlice(Slice, frozen=True, kw_only=True, gc=False, tag="chat"):
    executing: str | None = None
    entries: tuple[Entry, ...] = ()

    @property
    def queue(self) -> tuple[str | None, tuple[str, ...]]:
        return self.executing, tuple([entry.member for entry in self.entries])


fold: Fold[State] = Fold()
follow: Follow[State] = Follow()


@fold.on(QueueChanged)
def _change_queue(state: State, fact: QueueChanged) -> State:
    if not fact.priorities:
        entries = tuple(map(Entry, fact.pending))
    else:
        pairs = zip(fact.pending, fact.priorities, strict=True)
        entries = tuple([Entry(member, Priority(priority)) for member, priority in pairs])
    return replace(state, slice=ChatSlice(executing=fact.executing, entries=entries))

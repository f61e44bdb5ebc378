"""Where a message goes (seed 001 §3, §8): explicit NEXT, then the queue, then the first human.

Pure functions of a team, a queue and names: the chat flow makes events of their answers, `moot route chat` prints
them.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from moot.core import limits
from moot.core.markers import DROP_ALL, Priority, Target
from moot.core.team import Member, Team

_P1, _P2, _P3 = Priority


class ActionType(StrEnum):
    SEND_TO_AI = "send_to_ai"
    WAIT_FOR_HUMAN = "wait_for_human"
    CONTINUE_QUEUE = "continue_queue"
    ERROR_UNRESOLVED = "error_unresolved"


class Action(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What happens next. `member` is who gets the floor, where the type says so."""

    type: ActionType
    member: str | None = None
    addressees: tuple[str, ...] = ()
    available_members: tuple[str, ...] = ()


class Resolution(Struct, frozen=True, gc=False):
    resolved: tuple[Member, ...]
    unresolved: tuple[str, ...]


class Entry(Struct, frozen=True, array_like=True, gc=False):
    """A member in the queue."""

    member: str
    priority: Priority = Priority.P2


class RoutingDecision(Struct, frozen=True, kw_only=True, gc=False):
    """`queue` is the queue after appending, its head not yet taken; `skipped` are names that lead nowhere."""

    action: Action
    queue_updates: tuple[Entry, ...] = ()
    queue: tuple[Entry, ...] = ()
    skipped: tuple[str, ...] = ()


def resolve_addressees(addressees: Iterable[str], team: Team) -> Resolution:
    """Names to members, in order, duplicates kept; a name that equals nobody's is unresolved."""
    resolved: list[Member] = []
    unresolved: list[str] = []
    for name in addressees:
        found = team.find(name)
        if found:
            resolved.append(found)
        else:
            unresolved.append(name)
    return Resolution(tuple(resolved), tuple(unresolved))


def get_fallback_target(team: Team) -> Member:
    """The first human by `order`; a team always has one."""
    return team.first_human


def decide(addressees: Sequence[Target], queue: tuple[Entry, ...], team: Team) -> RoutingDecision:
    """Rows 1-7 of seed 001 §3.2: what to append to the queue, and what happens then."""
    room = min(limits.NEXT_TARGETS, limits.QUEUE_ENTRIES - len(queue))
    entries: list[Entry] = []
    unknown: list[str] = []
    for target in addressees[:room]:
        member = team.find(target.name)
        if member:
            entries.append(Entry(member.id, target.priority))
        else:
            unknown.append(target.name)
    skipped = (*unknown, *[target.name for target in addressees[room:]])
    if unknown and not entries:  # row 5
        action = Action(
            type=ActionType.ERROR_UNRESOLVED,
            addressees=skipped,
            available_members=tuple(member.display_name for member in team.members),
        )
        return RoutingDecision(action=action, queue=queue, skipped=skipped)
    after, updates = enqueue(queue, entries)
    if queue:  # rows 1-4 behind others, row 6
        action = Action(type=ActionType.CONTINUE_QUEUE)
    else:  # rows 1-4, row 7
        head = team.member(after[0].member) if after else get_fallback_target(team)
        action = Action(type=ActionType.WAIT_FOR_HUMAN if head.is_human else ActionType.SEND_TO_AI, member=head.id)
    return RoutingDecision(action=action, queue_updates=updates, queue=after, skipped=skipped)


def enqueue(queue: tuple[Entry, ...], new: Iterable[Entry]) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """The queue with `new` in it, and those of `new` that went in: nobody stands behind himself.

    P1 goes to the front in the order named, P2 behind every P1 and P2, P3 to the end.
    """
    result, added, front = list(queue), [], 0
    for entry in new:
        is_first = entry.priority is _P1
        at = front if is_first else len(result)
        if entry.priority is _P2:
            while at and result[at - 1].priority is _P3:
                at -= 1
        if at < len(result) and result[at].member == entry.member:
            front += is_first  # already where it should be: whoever is named next stands behind
            continue
        if at and result[at - 1].member == entry.member:
            continue
        result.insert(at, entry)
        added.append(entry)
        front += is_first
    return tuple(result), tuple(added)


def take_out(queue: tuple[Entry, ...], names: tuple[str, ...], team: Team) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """The queue without the named members (`[DROP:]`), and the names that are nobody's."""
    if not names:
        return queue, ()
    if names == DROP_ALL:
        return (), ()
    resolution = resolve_addressees(names, team)
    gone = {member.id for member in resolution.resolved}
    return tuple(entry for entry in queue if entry.member not in gone), resolution.unresolved

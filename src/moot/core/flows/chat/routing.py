"""Route a message of a chat: explicit [NEXT:], then mentions, the queue, the default, the first human (docs/chat.md).

The functions take a team, a queue and names. The chat flow turns their results into events; `moot route chat` prints
them.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from moot.core import limits
from moot.core.flows.chat.chat_slice import Entry
from moot.core.intake.intent import Addressing, AddressingType
from moot.core.intake.markers import DROP_ALL, Markers, Priority, Target
from moot.core.intake.mentions import Mentions
from moot.core.session.team import Member, Team

SELF = "self"

_P1, _P2, _P3 = Priority
_SEND_TO_AI, _WAIT_FOR_HUMAN = AddressingType.SEND_TO_AI, AddressingType.WAIT_FOR_HUMAN


class Resolution(Struct, frozen=True, gc=False):
    resolved: tuple[Member, ...]
    unresolved: tuple[str, ...]


class RoutingDecision(Struct, frozen=True, kw_only=True, gc=False):
    """`queue` is the queue after appending, with its head; `skipped` are names that were not enqueued."""

    action: Addressing
    queue_updates: tuple[Entry, ...] = ()
    queue: tuple[Entry, ...] = ()
    skipped: tuple[str, ...] = ()


def resolve_addressees(addressees: Iterable[str], team: Team, speaker: Member | None = None) -> Resolution:
    """Find the members with these names, in order and with duplicates; other names are unresolved."""
    resolved: list[Member] = []
    unresolved: list[str] = []
    for name in addressees:
        member = find_addressee(name, team, speaker)
        if member:
            resolved.append(member)
        else:
            unresolved.append(name)
    return Resolution(tuple(resolved), tuple(unresolved))


def get_fallback_target(team: Team) -> Member:
    """Return the first human by `order`; every team has one."""
    return team.first_human


def find_addressee(name: str, team: Team, speaker: Member | None) -> Member | None:
    """Return the member with this name. `self` is the speaker, unless a member has that name."""
    member = team.find(name)
    return speaker if member is None and name.lower() == SELF else member


def find_targets(speaker: Member, markers: Markers, mentions: Mentions, team: Team) -> tuple[Target, ...]:
    """Return whom a message names: by [NEXT:], or else by mentions where the team's settings let them count."""
    counts = team.chat.mentions == "everyone" or (team.chat.mentions == "humans" and speaker.is_human)
    if markers.next or not counts:
        return markers.next
    return tuple(map(Target, mentions.members))


def find_default(speaker: Member, queue: tuple[Entry, ...], team: Team) -> tuple[Target, ...]:
    """Return the member who is given what a human says to nobody, when the queue is empty."""
    member = team.find(team.chat.default) if speaker.is_human and not queue else None
    return (Target(member.id),) if member and member != speaker else ()


def decide(
    addressees: Sequence[Target], queue: tuple[Entry, ...], team: Team, speaker: Member | None = None
) -> RoutingDecision:
    """Decide what to append to the queue, and who gets the floor. `speaker` is the member that `self` means."""
    room = min(limits.NEXT_TARGETS, limits.QUEUE_ENTRIES - len(queue))
    entries: list[Entry] = []
    unknown: list[str] = []
    for target in addressees[:room]:
        member = find_addressee(target.name, team, speaker)
        if member:
            entries.append(Entry(member.id, target.priority))
        else:
            unknown.append(target.name)
    beyond = [target.name for target in addressees[room:]]
    skipped = shorten_names([*unknown, *beyond]) if unknown or beyond else ()
    if unknown and not entries:  # no name was resolved
        action = Addressing(
            type=AddressingType.ERROR_UNRESOLVED,
            addressees=skipped,
            available_members=tuple(member.display_name for member in team.members),
        )
        return RoutingDecision(action=action, queue=queue, skipped=skipped)
    after, updates = enqueue(queue, entries)
    if queue:  # the queue goes on; new entries wait behind it
        action = Addressing(type=AddressingType.CONTINUE_QUEUE)
    else:  # the new head, or without one the first human
        head = team.member(after[0].member) if after else get_fallback_target(team)
        action = Addressing(type=_WAIT_FOR_HUMAN if head.is_human else _SEND_TO_AI, member=head.id)
    return RoutingDecision(action=action, queue_updates=updates, queue=after, skipped=skipped)


def shorten_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the first names, each cut to a name's length, and `+N` for the rest: they go to everybody."""
    told = tuple(name[: limits.NAME_CHARS] for name in names[: limits.NAMES_TOLD])
    return told if len(names) <= limits.NAMES_TOLD else (*told, f"+{len(names) - limits.NAMES_TOLD}")


def enqueue(queue: tuple[Entry, ...], new: Iterable[Entry]) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """Return the queue with `new` inserted, and the entries that were inserted.

    P1 goes to the front in the order named, P2 behind every P1 and P2, P3 to the end. A member is never enqueued twice
    in a row.
    """
    result, added, front = list(queue), [], 0
    for entry in new:
        is_first = entry.priority is _P1
        at = front if is_first else len(result)
        if entry.priority is _P2:
            while at and result[at - 1].priority is _P3:
                at -= 1
        if at < len(result) and result[at].member == entry.member:
            front += is_first  # already in place: the next P1 goes behind it
            continue
        if at and result[at - 1].member == entry.member:
            continue
        result.insert(at, entry)
        added.append(entry)
        front += is_first
    return tuple(result), tuple(added)


def take_out(queue: tuple[Entry, ...], names: tuple[str, ...], team: Team) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """Return the queue without the named members (`[DROP:]`), and the names that match no member."""
    if not names:
        return queue, ()
    if names == DROP_ALL:
        return (), ()
    resolution = resolve_addressees(names, team)
    dropped = {member.id for member in resolution.resolved}
    return tuple(entry for entry in queue if entry.member not in dropped), shorten_names(resolution.unresolved)

"""Messages into a running turn: people write to a member while it works.

The agent is given the message at once, if it can take one there. Until that is known the message also waits for the
member's next turn, so that it reaches the member whatever happens to this one.
"""

from collections.abc import Collection

from moot.core import limits, text
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.flows.flow import Flow
from moot.core.session.commands import ReportDelivery
from moot.core.session.desk_events import How, MessageDelivered, MessageOffered
from moot.core.session.state import NO_NOTES, Offered, State
from moot.core.session.team import Member

_TAKEN = ("now", "boundary")


def find_workers(state: State) -> dict[str, str]:
    """Return the members at work, by the id of the turn or task. Asides are left out: they answer a team-mate."""
    return {turn.turn_id: turn.member for turn in state.running} | dict(state.slice.workers)


def offer(
    draft: Draft,
    speaker: Member,
    said: str,
    members: Collection[str],
    *,
    queued: Collection[str] = (),
    is_kept: bool = False,
) -> tuple[str, ...]:
    """Bring a message to those of these members that are at work. Returns the ids of their turns and tasks.

    A message with files waits for the next turn, which is given them.

    Args:
        queued: the members that it put into the queue.
        is_kept: a member that does not take it in this turn gets it in its next one.
    """
    offered: list[str] = []
    if text.is_blank(said) and not draft.attachments:
        return ()
    for turn_id, member in find_workers(draft.state).items():
        number = len(draft.state.notes.get(turn_id, NO_NOTES).messages) + 1
        if member not in members or number > limits.MESSAGES_INTO_TURN:
            continue
        offered.append(turn_id)
        draft.add(
            MessageOffered(
                turn_id=turn_id,
                member=member,
                number=number,
                by=speaker.id,
                text=text.cut(said.strip(), limits.HISTORY_CHARS),
                is_queued=member in queued,
                is_kept=is_kept,
                attachments=draft.attachments,
            )
        )
        if draft.attachments and is_kept:
            draft.add(MessageDelivered(turn_id=turn_id, member=member, number=number, how="next_turn"))
    return tuple(offered)


def obey(draft: Draft, flow: Flow, report: ReportDelivery) -> None:
    """Log how a message reached its member. Raises Refused if that is known, or the turn is over."""
    for message in _list_pending(draft.state, report.turn_id):
        if message.number == report.number:
            _log(draft, flow, report.turn_id, message, report.how if report.how in _TAKEN else None)
            return
    raise Refused("stale_turn", detail=report.turn_id)


def settle(draft: Draft, flow: Flow, turn_id: str) -> None:
    """Log that messages came too late for a turn that is about to end."""
    for message in _list_pending(draft.state, turn_id):
        _log(draft, flow, turn_id, message, None)


def _list_pending(state: State, turn_id: str) -> list[Offered]:
    return [message for message in state.notes.get(turn_id, NO_NOTES).messages if not message.how]


def _log(draft: Draft, flow: Flow, turn_id: str, message: Offered, how: How | None) -> None:
    """Log how a message reached its member; None: not in this turn."""
    missed: How = "next_turn" if message.is_kept else "routed"
    draft.add(MessageDelivered(turn_id=turn_id, member=message.to, number=message.number, how=how or missed))
    flow.note_delivery(draft, turn_id, message, is_delivered=how is not None)

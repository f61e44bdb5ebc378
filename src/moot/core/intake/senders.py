"""Who sent a message: `[FROM:]`, else the connection's member, else the human waited for, else the only human."""

from moot.core.errors import Refused
from moot.core.session.state import State
from moot.core.session.team import Member


def find_sender(state: State, by: str | None, named: str | None) -> Member:
    """Return the human who sent a message. Raises Refused if that is unknown, or not a human."""
    claimed = named or by
    humans = state.team.humans
    available = tuple(human.display_name for human in humans)
    if claimed:
        sender = state.team.find(claimed)
        if sender is None:
            raise Refused("sender_not_found", who=claimed, available=available)
        if not sender.is_human:
            raise Refused("sender_is_ai", who=claimed, available=available)
        return sender
    if state.waiting_for:
        return state.team.member(state.waiting_for)
    if len(humans) == 1:
        return humans[0]
    raise Refused("sender_ambiguous", available=available)


def guess_sender(state: State, by: str | None) -> Member | None:
    """Return the sender of a command, or None if it is unknown. Raises Refused if `by` is not a human of the team."""
    try:
        return find_sender(state, by, None)
    except Refused:
        if by:
            raise
        return None

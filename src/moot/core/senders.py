"""Who speaks (chat): `[FROM:]`, else the connection's member, else the human waited for, else the only human."""

from moot.core.errors import Refused
from moot.core.state import State
from moot.core.team import Member


def find_sender(state: State, by: str | None, named: str | None) -> Member:
    """The human who speaks, or Refused with a hint."""
    claimed = named or by
    humans = state.team.humans
    available = tuple(human.display_name for human in humans)
    if claimed:
        found = state.team.find(claimed)
        if found is None:
            raise Refused("sender_not_found", who=claimed, available=available)
        if not found.is_human:
            raise Refused("sender_is_ai", who=claimed, available=available)
        return found
    if state.waiting_for:
        return state.team.member(state.waiting_for)
    if len(humans) == 1:
        return humans[0]
    raise Refused("sender_ambiguous", available=available)


def guess_sender(state: State, by: str | None) -> Member | None:
    """The same where it does not matter who it is: nobody when it cannot be told."""
    try:
        return find_sender(state, by, None)
    except Refused:
        if by:
            raise
        return None

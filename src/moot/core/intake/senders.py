"""Who sent a message: `[FROM:]`, else the connection's member, else the human waited for, else the only human.

This is the only place that decides it, on the text as it will be stored: a second reading elsewhere, of other bytes,
could be made to see another name.
"""

from moot.core.errors import Refused
from moot.core.session.commands import HumanCommand
from moot.core.session.principal import Role
from moot.core.session.state import State
from moot.core.session.team import Member


def find_sender(state: State, command: HumanCommand, named: str | None = None) -> Member:
    """Return the human who sent a command; `named` is whom its text names with `[FROM:]`.

    Raises Refused if that is unknown, not a human, or not whom the principal may speak as.
    """
    principal = command.principal
    own = command.by
    if principal and principal.role is not Role.OWNER:
        own = principal.member
        if principal.role is Role.VIEWER or not own:
            raise Refused("forbidden")
    humans = state.team.humans
    if claimed := named or own:
        sender = _find_human(state, claimed)
        if named and own and principal and principal.role is Role.MEMBER and sender != _find_human(state, own):
            raise Refused("forbidden")
        return sender
    if state.waiting_for:
        return state.team.member(state.waiting_for)
    if len(humans) == 1:
        return humans[0]
    raise Refused("sender_ambiguous", available=tuple(human.display_name for human in humans))


def guess_sender(state: State, command: HumanCommand) -> Member | None:
    """Return the sender of a command without a text, or None if it is unknown. Raises Refused if it may not be sent."""
    try:
        return find_sender(state, command)
    except Refused as refusal:
        if refusal.code != "sender_ambiguous":
            raise
        return None


def _find_human(state: State, name: str) -> Member:
    available = tuple(human.display_name for human in state.team.humans)
    member = state.team.find(name)
    if member is None:
        raise Refused("sender_not_found", who=name, available=available)
    if not member.is_human:
        raise Refused("sender_is_ai", who=name, available=available)
    return member

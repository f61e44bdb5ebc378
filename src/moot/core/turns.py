"""What a member is given when its turn comes (chat: "each AI gets the newest message")."""

from msgspec import Struct

from moot.core.state import Message, State, Turn
from moot.core.team import Language, Member
from moot.core.text import is_blank


class TurnInput(Struct, frozen=True, kw_only=True, gc=False):
    """`message` is the newest that says something, not the human's original one (seed 001 §10.3, Bug#7)."""

    session_id: str
    turn_id: str
    member: Member
    index: int
    message: Message | None
    history: tuple[Message, ...]
    team_task: str
    addressable: tuple[Member, ...]
    language: Language


def turn_input(session_id: str, state: State, turn: Turn) -> TurnInput:
    return TurnInput(
        session_id=session_id,
        turn_id=turn.turn_id,
        member=state.team.member(turn.member),
        index=turn.index,
        message=_newest(state.history),
        history=state.history if state.team.chat.history else (),
        team_task=state.team_task,
        addressable=state.team.members,
        language=state.language,
    )


def _newest(history: tuple[Message, ...]) -> Message | None:
    """A message of markers only has nothing to say to the next one."""
    for message in reversed(history):
        if not is_blank(message.text):
            return message
    return None

"""The authenticated holder of a token, and what the role permits (docs/server.md#who-may-do-what)."""

from enum import StrEnum

from msgspec import Struct

from moot.core.intake.markers import parse
from moot.core.session.commands import HumanCommand, Post
from moot.core.session.team import Team
from moot.protocol.errors import ProtocolError


class Role(StrEnum):
    OWNER = "owner"
    MEMBER = "member"
    VIEWER = "viewer"


class Principal(Struct, frozen=True, kw_only=True):
    """The holder of a token. Without a `session_id` it is valid for all sessions; `member` is whom they speak as."""

    token_id: str
    role: Role
    session_id: str | None = None
    member: str | None = None

    def may_read(self, session_id: str) -> bool:
        return self.session_id in (None, session_id)

    def may_write(self, session_id: str) -> bool:
        return self.role is not Role.VIEWER and self.may_read(session_id)

    @property
    def may_create(self) -> bool:
        """Whether they may start, remove and restore sessions: an owner whose token is not limited to one session."""
        return self.role is Role.OWNER and self.session_id is None


def check_speaker(principal: Principal, session_id: str, command: HumanCommand, team: Team) -> None:
    """Raise ProtocolError `forbidden` unless the principal may send this command.

    A viewer may send none, and a member may not sign a message as another human.
    """
    if not principal.may_write(session_id):
        raise ProtocolError("forbidden")
    if principal.role is Role.OWNER or not isinstance(command, Post):
        return
    sender = parse(command.text).sender
    member = team.find(sender) if sender else None
    if member and member.is_human and member.id != principal.member:
        raise ProtocolError("forbidden")

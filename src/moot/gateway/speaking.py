"""Who may say what in a session (spec/5: roles)."""

from moot.core.commands import HumanCommand, Post
from moot.core.markers import parse
from moot.core.team import Team
from moot.gateway.principal import Principal, Role
from moot.protocol.errors import ProtocolError


def check_speaker(principal: Principal, session_id: str, command: HumanCommand, team: Team) -> None:
    """Raises ProtocolError `forbidden`: a viewer says nothing, and who speaks as one human cannot sign as another."""
    if not principal.may_write(session_id):
        raise ProtocolError("forbidden")
    if principal.role is Role.OWNER or not isinstance(command, Post):
        return
    signed = parse(command.text).sender
    member = team.find(signed) if signed else None
    if member and member.is_human and member.id != principal.member:
        raise ProtocolError("forbidden")

"""Who is asking, and what they may do (spec/5: who may connect)."""

from enum import StrEnum

from msgspec import Struct


class Role(StrEnum):
    OWNER = "owner"
    MEMBER = "member"
    VIEWER = "viewer"


class Principal(Struct, frozen=True, kw_only=True):
    """The holder of a token. `session_id` None: every session; `member`: the human they speak as."""

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
        """Start sessions: an owner whose token is not for one session alone."""
        return self.role is Role.OWNER and self.session_id is None

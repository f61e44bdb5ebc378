"""The principal of a command: the holder of the token that it came with, and what the role permits.

docs/server.md#who-may-do-what describes the roles for users.
"""

from enum import StrEnum

from msgspec import Struct


class Role(StrEnum):
    OWNER = "owner"
    MEMBER = "member"
    VIEWER = "viewer"
    WORKER = "worker"


class Principal(Struct, frozen=True, kw_only=True):
    """The holder of a token. Without a `session_id` it is valid for all sessions; `member` is whom they speak as.

    `login_id` is the login of the browser that it came by, if it did. `pools` are those that a worker may take jobs of;
    none: of any.
    """

    token_id: str
    role: Role
    session_id: str | None = None
    member: str | None = None
    login_id: str | None = None
    pools: tuple[str, ...] = ()

    def may_read(self, session_id: str) -> bool:
        return not self.is_worker and self.session_id in (None, session_id)

    def may_write(self, session_id: str) -> bool:
        return self.role is not Role.VIEWER and self.may_read(session_id)

    @property
    def is_worker(self) -> bool:
        """Whether it is a program that plays members: it sees its jobs and nothing else."""
        return self.role is Role.WORKER

    @property
    def may_create(self) -> bool:
        """Whether they may start, remove and restore sessions: an owner whose token is not limited to one session."""
        return self.role is Role.OWNER and self.session_id is None

"""Errors of a client.

MootError
├── Unreachable            no connection to the server
│   └── Unauthenticated    the server does not know the token, or it was revoked
├── HistoryReset           the server's history is not the one that this client had
└── Refused
    └── RemoteRefused      a session refused; `sentence` is what the server said
"""

from moot.client.address import Address
from moot.core.errors import CommandReused, MootError, NotFound, Refused, StorageFull
from moot.protocol.happenings import Denied, Ended


class Unreachable(MootError):
    """The server cannot be reached."""


class Unauthenticated(Unreachable):
    """The server does not accept the token."""


def cannot_reach(address: Address, trouble: str) -> Unreachable:
    return Unreachable(f"cannot reach {address} ({trouble}); is `moot serve` running there?")


def not_taken(address: Address) -> Unauthenticated:
    return Unauthenticated(
        f"{address} does not take this token; use the URL that `moot serve` prints, or `moot token create`"
    )


def describe_trouble(error: BaseException) -> str:
    """Describe an error without its number."""
    strerror: str | None = getattr(error, "strerror", None)
    return strerror or str(error) or "no answer in time"


class HistoryReset(MootError):
    """What was received of a session does not count any more; open the session again."""


class RemoteRefused(Refused):
    """A refusal that came over the wire: the code is that of the session, the sentence the server's."""

    def __init__(self, code: str, sentence: str, by: str | None = None) -> None:
        super().__init__(code, **({"by": by} if by else {}))
        self.sentence = sentence

    def __str__(self) -> str:
        return self.sentence or self.code


_AS_IN_PROCESS: dict[str, type[MootError]] = {
    "not_found": NotFound,
    "command_id_reused": CommandReused,
    "storage_full": StorageFull,
}


def to_error(told: Denied | Ended) -> MootError:
    """What the in-process API would have raised."""
    kind = _AS_IN_PROCESS.get(told.code)
    if kind:
        return kind(told.sentence)
    return RemoteRefused(told.code, told.sentence, told.by if isinstance(told, Denied) else None)

"""Everything that Moot raises on purpose.

MootError
├── Refused                a session does not accept a command; `code` and `params` are stable
│   └── RemoteRefused      the same on a server, whose sentence is `sentence`
├── ConfigError            a team file or a setting that cannot be used
│   ├── InvalidTeam        every problem of a team file, in `problems`
│   └── NotTrusted         a team file would start programs that nobody has allowed
├── AgentError             a turn that failed; raise it in a member with an `error_type` of your own
├── LogError               the log could not do what was asked
│   ├── NotFound           no session has this id
│   ├── Conflict           somebody else appended first
│   ├── CommandReused      a command id was used before with another body
│   ├── Corrupt            a stored event is not what was written
│   ├── Locked             another process writes to the store
│   ├── Unusable           the store cannot be opened as it is
│   └── StorageFull        the disk is full
├── Unreachable            no link to the server, and no hope of one
│   └── Unauthenticated    the server does not know the token, or it was revoked
└── HistoryReset           the server's history is not the one that this client had

`explain(refused, "en")` is the sentence for people, in English or in Chinese (`"zh"`).
"""

from moot.client.link_errors import HistoryReset, RemoteRefused, Unauthenticated, Unreachable
from moot.config.loading import InvalidTeam
from moot.config.trust import NotTrusted
from moot.core.errors import (
    AgentError,
    CommandReused,
    ConfigError,
    Conflict,
    Corrupt,
    Locked,
    LogError,
    MootError,
    NotFound,
    Refused,
    StorageFull,
    Unusable,
)
from moot.core.session.notices import explain

__all__ = [
    "AgentError",
    "CommandReused",
    "ConfigError",
    "Conflict",
    "Corrupt",
    "HistoryReset",
    "InvalidTeam",
    "Locked",
    "LogError",
    "MootError",
    "NotFound",
    "NotTrusted",
    "Refused",
    "RemoteRefused",
    "StorageFull",
    "Unauthenticated",
    "Unreachable",
    "Unusable",
    "explain",
]

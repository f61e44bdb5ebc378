"""The errors that Moot raises on purpose.

MootError
├── Refused            a session does not accept a command; nothing changed
├── ConfigError        a team file or a setting is not usable
├── AgentError         a member's turn failed
├── WorkspaceError     git, or a tree that members work in, cannot do what is needed
└── LogError
    ├── NotFound       no such session
    ├── Conflict       somebody else appended first
    │   ├── Fenced     another node acts for the session now
    │   └── Diverged   what was read before is no longer part of the session
    ├── CommandReused  one command id, two different bodies
    ├── Corrupt        a stored row is not what was written
    │   └── Newer      only a newer Moot understands it; nothing is damaged
    ├── Locked         another process holds the file
    ├── Unusable       the file cannot be opened (newer version, not a database, no permission)
    └── StorageFull    the disk is full; reading still works
"""

from contextlib import suppress

from moot.core.session.usage import Usage


class MootError(Exception):
    """The base of all errors of Moot. The message is one sentence."""


class Refused(MootError):
    """A command that the session does not accept. `code` is stable; the text comes from the notice catalogue.

    `sentence` is the rendered text if a server sent it: the server knows the parameters, its client does not.
    """

    sentence: str | None = None

    def __init__(self, code: str, **params: object) -> None:
        super().__init__(code, params)
        self.code = code
        self.params = params

    def __str__(self) -> str:
        """Return the sentence for people with the code; code and parameters if the catalogue has no sentence."""
        from moot.core.session.notices import explain  # here, because the catalogue needs errors, too
        from moot.core.session.team import DEFAULT_LANGUAGE

        with suppress(KeyError):  # a parameter that the sentence needs was not given
            if (sentence := explain(self, DEFAULT_LANGUAGE)) != f"[{self.code}]":
                return f"{sentence} ({self.code})"
        named = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        return f"refused: {self.code}" + (f" ({named})" if named else "")


class ConfigError(MootError):
    """A team file or setting that cannot be used."""


class AgentError(MootError):
    """A turn that failed. `error_type` says whether to retry it (timeout, network, agent, auth; see docs/agents.md).

    `retry_after_s` is the delay that the provider asked for. `usage` is what the failed turn cost.
    """

    def __init__(self, error_type: str, message: str, retry_after_s: float = 0.0, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.error_type = error_type
        self.retry_after_s = retry_after_s
        self.usage = usage or Usage()


class WorkspaceError(MootError):
    """What members work in cannot be made, recorded, merged or taken. The message is a sentence for people."""


class LogError(MootError):
    """The base of errors of the log."""


class NotFound(LogError):
    """No session has this id."""


class Conflict(LogError):
    """The expected seq is not the head: somebody else appended first."""


class Fenced(Conflict):
    """This node does not act for the session any more: what its agents and timers report is not wanted."""


class Diverged(Conflict):
    """The session's history differs from the one that was read, as after restoring a backup: read it again."""


class CommandReused(LogError):
    """This command id was used before with another body."""


class Corrupt(LogError):
    """A stored event does not match its hash; everything before `seq` is good."""

    def __init__(self, session_id: str, seq: int, why: str) -> None:
        super().__init__(f"session {session_id} is damaged at seq {seq}: {why}; events before it are intact")
        self.session_id = session_id
        self.seq = seq


class Newer(Corrupt):
    """A stored event, from `seq` on, is one that only a newer Moot understands. Nothing is damaged."""

    def __init__(self, session_id: str, seq: int, why: str) -> None:
        LogError.__init__(
            self,
            f"session {session_id} was continued by a newer Moot ({why}); update this one to read on from seq {seq}",
        )
        self.session_id = session_id
        self.seq = seq


class Locked(LogError):
    """Another process holds the log."""


class Unusable(LogError):
    """The log file cannot be opened as it is."""


class StorageFull(LogError):
    """The disk is full. Reading still works."""

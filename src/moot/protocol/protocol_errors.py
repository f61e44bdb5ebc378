"""What a connection is told when something is wrong: a stable code, a sentence, whether trying again can help."""

from collections.abc import Mapping

from moot.core.errors import CommandReused, Conflict, LogError, MootError, NotFound, Refused, StorageFull
from moot.core.session.team import Language
from moot.core.texts import render


class ProtocolError(MootError):
    """A frame that cannot be taken. `params` fill the sentence of the notice catalogue.

    `session_id` and `command_id` are those of the frame, where they could be read.
    """

    def __init__(
        self, code: str, *, retryable: bool = False, params: Mapping[str, object] | None = None, **named: object
    ) -> None:
        super().__init__(code)
        self.code = code
        self.retryable = retryable
        self.params = {**(params or {}), **named}
        self.session_id: str | None = None
        self.command_id: str | None = None

    def explain(self, language: Language) -> str:
        return render(self.code, language, **self.params)


def as_protocol_error(error: MootError) -> ProtocolError:
    """Return an error of the runtime as the one that a client is told."""
    match error:
        case ProtocolError():
            return error
        case Refused():
            return ProtocolError(error.code, params=error.params)
        case NotFound():
            return ProtocolError("not_found")
        case CommandReused():
            return ProtocolError("command_id_reused")
        case StorageFull():
            return ProtocolError("storage_full", retryable=True)
        case Conflict() | LogError():
            return ProtocolError("unavailable", retryable=True)
        case _:
            return ProtocolError("internal", retryable=True)

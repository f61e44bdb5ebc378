"""What went wrong with a model, as one of the types of errors that tell the retryable from the terminal (E95, E97)."""

import os
import ssl
from collections.abc import Iterator
from functools import cache

from moot.agents.llm.models import ModelAddress
from moot.core.errors import AgentError

DETAIL_CHARS = 300
SHORTEST_KEY = 4
_ENDED = (
    ssl.SSLEOFError,
    ssl.SSLZeroReturnError,
    ssl.SSLSyscallError,
)  # the line went dead: no fault of anybody's set-up


def explain(error: Exception, address: ModelAddress) -> AgentError:
    """Never a key in it: what servers say of keys is left out, and the key itself is taken out of anything else."""
    from pydantic_ai import exceptions as pai

    match error:
        case AgentError():
            return error
        case pai.ModelConnectionError() if not isinstance(error, pai.ModelTimeoutError):
            return _explain_connection(error, address.name)
        case pai.UnexpectedModelBehavior() if not isinstance(error, pai.ContentFilterError):
            return _explain_behaviour(error, address.name)
    for kind, (error_type, sentence) in _rules().items():
        if isinstance(error, kind):
            said = sentence.format(
                who=address.name, fix=_fix_key(address.key_name), status=_status(error), detail=_detail(error, address)
            )
            return AgentError(error_type, said, getattr(error, "retry_after", None) or 0.0)
    return AgentError("agent", f"{address.name} failed: {type(error).__name__}")


@cache
def _rules() -> dict[type[Exception], tuple[str, str]]:
    """The narrower before the wider: types of errors and sentences."""
    from pydantic_ai import exceptions as pai

    return {
        pai.ModelAuthenticationError: ("auth", "{who} refused the key{status}: {fix}"),
        pai.ModelQuotaExceededError: ("budget", "{who}: the account has no credit left{status}"),
        pai.ModelRateLimitError: ("rate_limit", "{who} is busy{status}"),
        pai.ModelContextWindowExceededError: ("config", "{who}: what it was told is too long for it{status}"),
        pai.ModelNotFoundError: ("config", "{who} is not known there{status}: check model and base_url"),
        pai.ModelRequestRejectedError: ("config", "{who} does not take this request{status}{detail}"),
        pai.ModelTimeoutError: ("timeout", "{who} did not answer in time"),
        pai.ModelRequestTimeout: ("timeout", "{who} did not answer in time"),
        pai.ModelAPIError: ("agent", "{who} failed{status}{detail}"),
        pai.ContentFilterError: ("refused", "{who} refused to answer"),
        pai.UsageLimitExceeded: ("budget", "{who} went on for too many rounds"),
        pai.UserError: ("config", "{who} cannot be used like this{detail}"),
        TimeoutError: ("timeout", "{who} did not answer in time"),
    }


def _fix_key(name: str) -> str:
    return f"check key {name}" if os.environ.get(name) else f"set {name}"


def _status(error: Exception) -> str:
    status = getattr(error, "status_code", None)
    return f" ({status})" if status else ""


def _explain_connection(error: Exception, who: str) -> AgentError:
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return AgentError("config", f"{who}: the server's certificate is not trusted")
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, _ENDED):
            return AgentError("config", f"{who}: no TLS connection ({cause.reason}); check base_url")
    if getattr(error, "phase", None) == "read":
        return AgentError("network", f"{who}: the connection broke off")
    return AgentError("network", f"{who} cannot be reached")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what led to it; a circle ends."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _explain_behaviour(error: Exception, who: str) -> AgentError:
    said = str(error)
    if "output retries" in said:
        return AgentError("validation", f"{who} gave no usable answer, though asked again")
    if "token limit" in said:
        return AgentError("validation", f"{who} came to its token limit before the answer was whole")
    return AgentError("agent", f"{who} answered with nonsense")


def _detail(error: Exception, address: ModelAddress) -> str:
    """What the server says of it, where it is a sentence."""
    match getattr(error, "body", None):
        case {"error": {"message": str(said)}} | {"message": str(said)} | {"error": str(said)}:
            return f": {_cut(said, address)}"
        case None if not hasattr(error, "model_name"):
            return f": {_cut(str(error), address)}"
    return ""


def _cut(text: str, address: ModelAddress) -> str:
    key = os.environ.get(address.key_name, "")
    if len(key) >= SHORTEST_KEY:
        text = text.replace(key, f"[{address.key_name}]")
    return text[:DETAIL_CHARS]
